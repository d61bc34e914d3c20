import assert from 'node:assert/strict'
import fc from 'fast-check'
import {parseAddressRange, parseCidr, specialKindOf} from '../../src/pki/address-range.ts'
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

describe('parseAddressRange', () => {
  for (const [text, first] of [
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.200.7.9/16', '10.200.0.1'],
    ['192.0.2.128/30', '192.0.2.129'],
    ['fd00:10:96::/112', 'fd00:10:96:0:0:0:0:1'],
  ] as const) {
    it(`${text} begins with ${first}`, () => {
      const range = parseAddressRange(text)
      assert.equal(range?.contains(first), true)
      assert.equal(range.contains(range.first), true)
      assert.equal(range.first.replace(/(^|:)(0:)+/, '::'), first.replace(/(^|:)(0:)+/, '::'))
    })
  }

  for (const text of [
    '',
    '10.0.0.0',
    '10.0.0.0/31',
    '10.0.0.0/33',
    'x/8',
    '10.0.0.0/-1',
    '::/129',
  ]) {
    it(`"${text}" is no range`, () => assert.equal(parseAddressRange(text), undefined))
  }

  it('gives only addresses of its own, and never the first', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({min: 1, max: 30}), (address, prefix) => {
        const range = parseAddressRange(`${address}/${prefix}`)
        const one = range?.random() ?? ''
        return range?.contains(one) === true && one !== range.first
      }),
    )
  })

  it('holds neither its network nor its last address, nor those of another family', () => {
    const range = parseAddressRange('192.0.2.0/24')
    for (const address of ['192.0.2.0', '192.0.2.255', '192.0.3.1', '::c000:201', 'x'])
      assert.equal(range?.contains(address), false, address)
  })
})
