import assert from 'node:assert/strict'
import {parseYaml} from '../../../src/server/codec/yaml.ts'

const parse = (text: string) => parseYaml(Buffer.from(text))

describe('YAML bodies', () => {
  it('are read as YAML 1.1, with times left as text', async () => {
    const text = 'a: yes\nb: 0644\nc: 2026-01-01\nd: "1"\ne: 1:30\nf: ~\ng: 1.5\n'
    assert.deepEqual((await parse(text)).value, {
      a: true,
      b: 420,
      c: '2026-01-01',
      d: '1',
      e: '1:30',
      f: null,
      g: 1.5,
    })
  })

  it('may use anchors and merges', async () => {
    assert.deepEqual((await parse('u: &u {a: 1}\nv: *u\nw:\n  <<: *u\n  b: 2\n')).value, {
      u: {a: 1},
      v: {a: 1},
      w: {a: 1, b: 2},
    })
  })

  it('end with their first document', async () => {
    assert.deepEqual((await parse('a: 1\n---\nb: 2\n')).value, {a: 1})
  })

  it('tell of keys that stand twice, and take the last', async () => {
    const {value, duplicates} = await parse('data:\n  a: b\n  a: c\n')
    assert.deepEqual(value, {data: {a: 'c'}})
    assert.deepEqual(duplicates, ['yaml: unmarshal errors:\n  line 3: key "a" already set in map'])
  })

  it('are refused where aliases multiply', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      )
    }
    await assert.rejects(parse(lines.join('\n')), {
      name: 'MalformedError',
      message: 'yaml: document contains excessive aliasing',
    })
  })

  it('are refused for an alias without an anchor', async () => {
    await assert.rejects(parse('a: &a 1\nb: *a\nc: *other\n'), {
      name: 'MalformedError',
      message: "yaml: unknown anchor 'other' referenced",
    })
  })

  it('are refused where merges multiply', async () => {
    const merges = Array.from({length: 100}, (_, index) => `m${index}: {<<: *a}`)
    await assert.rejects(parse(['a: &a {b: 1}', ...merges].join('\n')), {
      message: 'yaml: document contains excessive aliasing',
    })
  })

  it('may be as long as they like only if they are JSON', async () => {
    const long = 'x'.repeat(600_000)
    assert.deepEqual((await parse(`{"a":"${long}"}`)).value, {a: long})
    await assert.rejects(parse(`a: ${long}`), {
      code: 413,
      message:
        'Request entity too large: limit is 262144 bytes of YAML; send it as JSON, which may be longer',
    })
  })

  it('may look like JSON and be none', async () => {
    assert.deepEqual((await parse('{a: b}')).value, {a: 'b'})
    assert.deepEqual((await parse('{"a": 1, "a": 2}')).duplicates, [
      'yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    ])
  })

  it('are refused where they nest without an end', async () => {
    await assert.rejects(parse('['.repeat(100_000)), {name: 'MalformedError'})
    await assert.rejects(parse('- '.repeat(10_000)), {
      name: 'MalformedError',
      message: 'yaml: the document nests too deeply',
    })
  })

  it('are refused with the line where they make no sense', async () => {
    await assert.rejects(parse('a: 1\nb: [1\n'), {
      name: 'MalformedError',
      message: /^yaml: line \d/,
    })
  })

  it('do not reach the prototype of objects', async () => {
    const {value} = await parse('__proto__:\n  polluted: true\n')
    assert.equal((value as {polluted?: boolean}).polluted, undefined)
  })
})
