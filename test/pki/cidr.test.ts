import assert from 'node:assert/strict'
import {specialKindOf} from '../../src/pki/address-kinds.ts'
import {parseCidr} from '../../src/pki/cidr.ts'
import {plainIp} from '../../src/pki/ip-address.ts'

describe('a block of addresses', () => {
  const rows: [block: string, inside: string[], outside: string[]][] = [
    ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['11.0.0.0', '9.255.255.255', '::a00:1']],
    ['10.1.2.3/24', ['10.1.2.0', '10.1.2.255'], ['10.1.3.0']],
    ['192.0.2.7/32', ['192.0.2.7'], ['192.0.2.6']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['2001:db8::1']],
    ['2001:db8::/32', ['2001:db8::', '2001:db8:ffff::1'], ['2001:db9::', '10.0.0.1']],
  ]
  for (const [text, inside, outside] of rows) {
    it(`${text} holds its first and its last address, and none besides`, () => {
      const block = parseCidr(text)
      for (const one of inside) assert.equal(block?.includes(one), true, one)
      for (const one of [...outside, 'example.com', ''])
        assert.equal(block?.includes(one), false, one)
    })
  }

  for (const text of [
    '',
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    'fe80::1%1/64',
    '1.1.1.1/8/8',
    '10.0.0.0/-1',
  ]) {
    it(`is not "${text}"`, () => assert.equal(parseCidr(text), undefined))
  }
})

describe('an address', () => {
  it('is plain IPv4 where it is mapped into IPv6', () => {
    assert.equal(plainIp('::ffff:10.96.0.1'), '10.96.0.1')
    assert.equal(plainIp('0:0:0:0:0:FFFF:7f00:1'), '127.0.0.1')
    assert.equal(plainIp('FD00:0::1'), 'fd00::1')
    assert.equal(plainIp('example.com'), undefined)
  })

  const kinds: [address: string, kind: string | undefined][] = [
    ['127.255.255.255', 'loopback'],
    ['::1', 'loopback'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['169.254.0.1', 'link-local'],
    ['febf::1', 'link-local'],
    ['239.255.255.255', 'multicast'],
    ['ff05::2', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['::10.0.0.1', 'reserved'],
    ...[
      '10.0.0.1',
      '100.64.0.1',
      '172.16.0.1',
      '192.168.0.1',
      '203.0.113.1',
      'fd00::1',
      '2001:db8::1',
    ].map((address): [string, undefined] => [address, undefined]),
  ]
  for (const [address, kind] of kinds) {
    it(`${address} is ${kind ?? 'a machine’s'}`, () => assert.equal(specialKindOf(address), kind))
  }
})
