import assert from 'node:assert/strict'
import {parseYaml} from '../../../src/server/codec/yaml.ts'

const parse = (text: string) => parseYaml(Buffer.from(text))

describe('YAML bodies', () => {
  it('are read as YAML 1.1, with times left as text', () => {
    const text = 'a: yes\nb: 0644\nc: 2026-01-01\nd: "1"\ne: 1:30\nf: ~\ng: 1.5\n'
    assert.deepEqual(parse(text).value, {
      a: true,
      b: 420,
      c: '2026-01-01',
      d: '1',
      e: '1:30',
      f: null,
      g: 1.5,
    })
  })

  it('may use anchors and merges', () => {
    assert.deepEqual(parse('u: &u {a: 1}\nv: *u\nw:\n  <<: *u\n  b: 2\n').value, {
      u: {a: 1},
      v: {a: 1},
      w: {a: 1, b: 2},
    })
  })

  it('end with their first document', () => {
    assert.deepEqual(parse('a: 1\n---\nb: 2\n').value, {a: 1})
  })

  it('tell of keys that stand twice, and take the last', () => {
    const {value, duplicates} = parse('data:\n  a: b\n  a: c\n')
    assert.deepEqual(value, {data: {a: 'c'}})
    assert.deepEqual(duplicates, ['yaml: unmarshal errors:\n  line 3: key "a" already set in map'])
  })

  it('are refused where aliases multiply', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      )
    }
    assert.throws(() => parse(lines.join('\n')), {
      name: 'MalformedError',
      message: 'yaml: document contains excessive aliasing',
    })
  })

  it('are refused where merges multiply', () => {
    const merges = Array.from({length: 100}, (_, index) => `m${index}: {<<: *a}`)
    assert.throws(() => parse(['a: &a {b: 1}', ...merges].join('\n')), {
      message: 'yaml: document contains excessive aliasing',
    })
  })

  it('may be as long as they like only where they are JSON', () => {
    const long = 'x'.repeat(600_000)
    assert.deepEqual(parse(`{"a":"${long}"}`).value, {a: long})
    assert.throws(() => parse(`a: ${long}`), {
      message: 'yaml: the document is longer than 524288 bytes',
    })
  })

  it('may look like JSON and be none', () => {
    assert.deepEqual(parse('{a: b}').value, {a: 'b'})
    assert.deepEqual(parse('{"a": 1, "a": 2}').duplicates, [
      'yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    ])
  })

  it('are refused where they nest without an end', () => {
    assert.throws(() => parse('['.repeat(100_000)), {name: 'MalformedError'})
    assert.throws(() => parse('- '.repeat(50_000)), {
      name: 'MalformedError',
      message: 'yaml: the document nests too deeply',
    })
  })

  it('are refused with the line where they make no sense', () => {
    assert.throws(() => parse('a: 1\nb: [1\n'), {name: 'MalformedError', message: /^yaml: line \d/})
  })

  it('do not reach the prototype of objects', () => {
    const {value} = parse('__proto__:\n  polluted: true\n')
    assert.equal((value as {polluted?: boolean}).polluted, undefined)
  })
})
