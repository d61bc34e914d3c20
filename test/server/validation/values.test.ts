import assert from 'node:assert/strict'
import {
  cidr,
  immutableField,
  ipAddress,
  portReference,
  semanticallyEqual,
} from '../../../src/server/validation/values.ts'

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

describe('addresses and ports', () => {
  for (const right of ['10.0.0.0/8', 'fd00::/64', '0.0.0.0/0']) {
    it(`takes ${right} as CIDR`, () => {
      assert.deepEqual(cidr('f', right), [])
    })
  }
  for (const wrong of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    'x/8',
    '10.0.0.0/08',
    '1.2.3.4/8/9',
  ]) {
    it(`refuses ${wrong} as CIDR`, () => {
      assert.equal(cidr('f', wrong).length, 1)
    })
  }

  it('takes addresses of both families, and nothing else', () => {
    assert.deepEqual(ipAddress('f', '::1'), [])
    assert.equal(ipAddress('f', '010.0.0.1').length, 1)
  })

  it('takes a port by number or by name', () => {
    assert.deepEqual(portReference('f', 443), [])
    assert.deepEqual(portReference('f', 'https'), [])
    assert.equal(
      portReference('f', 0)[0]?.message,
      'Invalid value: 0: must be between 1 and 65535, inclusive',
    )
    assert.equal(portReference('f', 'HTTPS').length, 2)
  })
})
