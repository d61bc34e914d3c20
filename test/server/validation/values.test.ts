import assert from 'node:assert/strict'

import {immutableField, semanticallyEqual} from '../../../src/server/validation/values.ts'

describe('semantic equality', () => {
  const pairs: [a: unknown, b: unknown, equal: boolean][] = [
    [undefined, null, true],
    [[], undefined, true],
    [{}, undefined, true],
    [{a: undefined, b: []}, {}, true],
    [{a: 1, b: [1, {c: 2}]}, {b: [1, {c: 2}], a: 1}, true],
    [[1, 2], [2, 1], false],
    [{a: 1}, {a: '1'}, false],
    ['', undefined, false],
    [0, undefined, false],
  ]
  for (const [a, b, equal] of pairs) {
    it(`finds ${JSON.stringify(a)} and ${JSON.stringify(b)} ${equal ? 'equal' : 'different'}`, () => {
      assert.equal(semanticallyEqual(a, b), equal)
      assert.equal(semanticallyEqual(b, a), equal)
    })
  }

  it('names a change of what may not change', () => {
    assert.deepEqual(immutableField('type', 'b', 'a'), [
      {
        field: 'type',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "b": field is immutable',
      },
    ])
  })
})
