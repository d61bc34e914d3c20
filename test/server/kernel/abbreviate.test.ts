import assert from 'node:assert/strict'
import fc from 'fast-check'
import {abbreviate, abbreviatedJson, encodedBytes} from '../../../src/server/kernel/abbreviate.ts'

describe('abbreviating what is repeated of a request', () => {
  it('leaves alone what has room', () => {
    assert.equal(abbreviate('short', 100), 'short')
    assert.equal(
      abbreviatedJson({a: [1, 'x', null, true], b: {}, c: []}, 100),
      '{"a":[1,"x",null,true],"b":{},"c":[]}',
    )
  })

  it('marks what was cut', () => {
    assert.equal(abbreviate('x'.repeat(100), 20), `${'x'.repeat(15)}...`)
    assert.match(abbreviatedJson(['x'.repeat(100)], 20), /^\["x+\.\.\.$/)
  })

  it('never cuts a character in half', () => {
    // Throws for half a character.
    assert.doesNotThrow(() => encodeURIComponent(abbreviate('😀'.repeat(100), 50)))
  })

  it('takes no more bytes than allowed, whatever the characters', () => {
    const text = fc.string({unit: 'binary', maxLength: 200})
    fc.assert(
      fc.property(text, fc.integer({min: 10, max: 300}), (given, most) => {
        assert.ok(encodedBytes(abbreviate(given, most)) <= most)
      }),
    )
  })

  it('writes any JSON value as JSON.stringify does, where there is room', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.equal(abbreviatedJson(value, 1_000_000), JSON.stringify(value))
      }),
    )
  })

  it('looks only at what it shows', () => {
    const watched = new Proxy(
      Array.from({length: 1000}, () => 'x'),
      {
        get: (list, key) => {
          assert.ok(typeof key === 'symbol' || !(Number(key) > 100), String(key))
          return Reflect.get(list, key) as unknown
        },
      },
    )
    assert.match(abbreviatedJson(watched, 50), /^\["x",.*\.\.\.$/)
  })
})
