import assert from 'node:assert/strict'

import fc from 'fast-check'

import {getOwn, isObject, type JsonObject, setOwn} from '../../../src/server/kernel/json-value.ts'
import {applyMergePatch} from '../../../src/server/patch/json-patch.ts'

/** The patch that makes `to` of `from`, for objects that hold no null. */
function diff(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) setOwn(patch, key, null)
  for (const key of Object.keys(to)) {
    const [before, after] = [getOwn(from, key), to[key]]
    setOwn(patch, key, isObject(before) && isObject(after) ? diff(before, after) : after)
  }
  return patch
}

const objects: fc.Arbitrary<JsonObject> = fc.letrec<{value: unknown; object: JsonObject}>(
  (tie) => ({
    value: fc.oneof(
      {depthSize: 'small'},
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string()),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('value')),
  }),
).object

describe('applyMergePatch', () => {
  // The examples of RFC 7386, appendix A, that have objects on both sides.
  const examples: [JsonObject, JsonObject, JsonObject][] = [
    [{a: 'b'}, {a: 'c'}, {a: 'c'}],
    [{a: 'b'}, {b: 'c'}, {a: 'b', b: 'c'}],
    [{a: 'b'}, {a: null}, {}],
    [{a: 'b', b: 'c'}, {a: null}, {b: 'c'}],
    [{a: ['b']}, {a: 'c'}, {a: 'c'}],
    [{a: 'c'}, {a: ['b']}, {a: ['b']}],
    [{a: {b: 'c'}}, {a: {b: 'd', c: null}}, {a: {b: 'd'}}],
    [{a: [{b: 'c'}]}, {a: [1]}, {a: [1]}],
    [{e: null}, {a: 1}, {e: null, a: 1}],
    [{}, {a: {bb: {ccc: null}}}, {a: {bb: {}}}],
  ]
  for (const [document, patch, result] of examples) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(document)} by ${JSON.stringify(patch)}`, () =>
      assert.deepEqual(applyMergePatch(document, patch), result))
  }

  it('refuses a patch that is no object', () => {
    assert.throws(() => applyMergePatch({}, ['a']), {
      message:
        'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
      code: 400,
    })
  })

  it('reaches any object by its diff, and leaves its inputs as they are', () => {
    fc.assert(
      fc.property(objects, objects, (from, to) => {
        const patch = diff(from, to)
        const before = JSON.stringify([from, patch])
        assert.deepEqual(applyMergePatch(from, patch), applyMergePatch({}, to))
        assert.equal(JSON.stringify([from, patch]), before)
      }),
    )
  })

  it('takes __proto__ for a key like any other', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":1}}')
    assert.equal(JSON.stringify(applyMergePatch({}, patch)), '{"__proto__":{"polluted":1}}')
    assert.equal(({} as {polluted?: number}).polluted, undefined)
  })
})
