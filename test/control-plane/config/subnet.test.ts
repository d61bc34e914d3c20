import assert from 'node:assert/strict'
import {serviceRange, requireSubnet} from '../../../src/control-plane/config/subnet.ts'

describe('serviceRange', () => {
  const cases: [string, string][] = [
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.103.7.9/12', '10.96.0.1'],
    ['192.168.4.0/22', '192.168.4.1'],
    ['fd00:1::/108', 'fd00:1::1'],
    ['10.96.0.0/12,fd00::/108', '10.96.0.1'],
  ]
  for (const [range, first] of cases) {
    it(`of ${range} is ${first}`, () => assert.equal(serviceRange(range).first, first))
  }
})

describe('requireSubnet', () => {
  for (const range of ['', '10.96.0.0', '10.96.0.0/33', '10.96.0.0/x', 'a/8', '10.0.0.0/31']) {
    it(`refuses "${range}"`, () =>
      assert.throws(() => requireSubnet(range, 'x'), {code: 'CONFIG_INVALID'}))
  }
})
