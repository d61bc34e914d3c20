import assert from 'node:assert/strict'
import {
  nameRules,
  type ApprovedRequest,
  type NameClaims,
} from '../../../src/controllers/approval/name-rule.ts'
import type {NodeRecord} from '../../../src/controllers/approval/node-record.ts'
import type {RequestedCertificate} from '../../../src/csr/requested-certificate.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const EARLIER = new Date('2026-01-01T11:00:00Z')
const LATER = new Date('2026-01-01T13:00:00Z')
const PIN = 'sha256:aa'
const OTHER = 'sha256:bb'

const requested = {node: 'foo', pin: PIN} as unknown as RequestedCertificate
const from = {requester: 'system:bootstrap:abcdef', revision: '20'}
const byKey = (pin: string, until = LATER) => ({until, to: {pin}})
const byRequester = (requester: string, after: string) => ({until: LATER, to: {requester, after}})

const record = (change: Partial<NodeRecord> = {}): NodeRecord => ({
  holder: OTHER,
  issuedAt: EARLIER,
  issuer: undefined,
  until: LATER,
  previous: undefined,
  requester: undefined,
  givenAt: undefined,
  grant: undefined,
  reserved: undefined,
  object: {metadata: {}},
  ...change,
})
const approved = (change: Partial<ApprovedRequest> = {}): ApprovedRequest => ({
  name: 'csr-0',
  pin: OTHER,
  ...change,
})

const previous = {pin: PIN, issuedAt: EARLIER, until: EARLIER, credential: undefined}

const rows: [string, Partial<NameClaims>, boolean, RegExp][] = [
  ['nobody has it', {}, true, /free/],
  ['a Node has it', {nodeExists: true}, false, /a Node of that name exists/],
  ['another key has a certificate', {record: record()}, false, /valid until 2026-01-01T13:00:00Z/],
  ['that certificate has expired', {record: record({until: EARLIER})}, true, /free/],
  [
    'it has expired, but the Node is there',
    {record: record({until: EARLIER}), nodeExists: true},
    false,
    /a Node/,
  ],
  ['nobody can tell when it expires', {record: record({until: undefined})}, false, /is valid/],
  ['a record without a holder', {record: record({holder: undefined})}, true, /free/],
  ['the same key has it', {record: record({holder: PIN})}, true, /the key that asks holds/],
  [
    'the same key has it, and the Node is there',
    {record: record({holder: PIN}), nodeExists: true},
    true,
    /holds/,
  ],
  [
    'the same key had it, and the Node is there',
    {record: record({holder: PIN, until: EARLIER}), nodeExists: true},
    true,
    /holds/,
  ],
  [
    'the key asks that the newest certificate was requested with, which was never used',
    {record: record({previous}), nodeExists: true},
    true,
    /held the name "foo" before the newest certificate, which was never seen in use/,
  ],
  [
    'that key asks, the newest certificate has expired, and the requester asks with a newer key too',
    {record: record({previous, until: EARLIER}), nodeExists: true, newer: 'csr-9'},
    true,
    /held the name "foo" before/,
  ],
  [
    'a third key asks, beside the holder and the one before',
    {record: record({previous: {...previous, pin: 'sha256:cc'}})},
    false,
    /valid until/,
  ],
  [
    'the key before asks, but the name is kept for another one that an operator let in',
    {record: record({previous, reserved: {pin: 'sha256:cc', until: LATER}})},
    false,
    /kept for another key/,
  ],
  ['another key was approved', {approved: [approved()]}, false, /request "csr-0"/],
  ['the same key was approved', {approved: [approved({pin: PIN})]}, true, /holds/],
  [
    'the same key and another were approved',
    {approved: [approved({pin: PIN}), approved({name: 'csr-9'})]},
    false,
    /request "csr-9"/,
  ],
  [
    'the certificate of an approved request has expired',
    {approved: [approved({notBefore: EARLIER, notAfter: EARLIER})]},
    true,
    /free/,
  ],
  [
    'an older key is approved beside the recorded one that asks',
    {
      record: record({holder: PIN, issuedAt: NOW}),
      approved: [approved({notBefore: EARLIER, notAfter: LATER})],
    },
    true,
    /holds/,
  ],
  [
    'a newer key is approved beside the recorded one that asks',
    {
      record: record({holder: PIN, issuedAt: EARLIER}),
      approved: [approved({notBefore: NOW, notAfter: LATER})],
    },
    false,
    /request "csr-0"/,
  ],
  [
    'an operator allows the key',
    {record: record({grant: byKey(PIN)}), nodeExists: true},
    true,
    /an operator allows this key to re-join until 2026/,
  ],
  [
    'an operator allowed the key, too long ago',
    {record: record({grant: byKey(PIN, EARLIER)}), nodeExists: true},
    false,
    /a Node of that name exists, and a certificate[^]*Z$/,
  ],
  [
    'an operator allows another key',
    {record: record({grant: byKey(OTHER)}), nodeExists: true},
    false,
    /an operator allows only the key sha256:bb until 2026/,
  ],
  [
    'an operator keeps a free name for another key',
    {record: record({holder: undefined, grant: byKey(OTHER)})},
    false,
    /an operator allows only the key sha256:bb/,
  ],
  [
    'an operator allows the requester, who requested after that',
    {record: record({grant: byRequester(from.requester, '19')}), nodeExists: true},
    true,
    /an operator allows a request of "system:bootstrap:abcdef" to re-join until 2026/,
  ],
  [
    'an operator allows the requester, who requested before that',
    {record: record({grant: byRequester(from.requester, '20')}), nodeExists: true},
    false,
    /only the next request that "system:bootstrap:abcdef" makes after it was allowed/,
  ],
  [
    'an operator allows another requester',
    {record: record({grant: byRequester('system:bootstrap:other0', '1')}), nodeExists: true},
    false,
    /only the next request that "system:bootstrap:other0" makes/,
  ],
  [
    'the requester asks with a newer key too',
    {newer: 'csr-9'},
    false,
    /superseded by request "csr-9" of the same requester/,
  ],
  [
    'an operator allows the key, and the requester asks with a newer one too',
    {record: record({grant: byKey(PIN)}), nodeExists: true, newer: 'csr-9'},
    true,
    /an operator allows this key/,
  ],
  [
    'the key that asks holds it, and the requester asks with a newer one too',
    {record: record({holder: PIN}), newer: 'csr-9'},
    true,
    /holds/,
  ],
  [
    'an operator allows the requester, who asks with a newer key too',
    {record: record({grant: byRequester(from.requester, '1')}), nodeExists: true, newer: 'csr-9'},
    false,
    /superseded/,
  ],
  [
    'it is kept for the same key, and the Node is there, and another key has a certificate',
    {record: record({reserved: {pin: PIN, until: LATER}}), nodeExists: true},
    true,
    /kept for the key that asks/,
  ],
  [
    'it was kept for the same key, too long ago',
    {record: record({reserved: {pin: PIN, until: EARLIER}})},
    false,
    /valid until/,
  ],
  [
    'it is kept for the same key, but another was approved since',
    {record: record({reserved: {pin: PIN, until: LATER}}), approved: [approved()]},
    false,
    /request "csr-0"/,
  ],
  [
    'it is kept for another key',
    {record: record({holder: undefined, reserved: {pin: OTHER, until: LATER}})},
    false,
    /kept for another key/,
  ],
  [
    'it was kept for another key, too long ago',
    {record: record({holder: undefined, reserved: {pin: OTHER, until: EARLIER}})},
    true,
    /free/,
  ],
  [
    'it is kept for another key, but an operator allows it',
    {record: record({grant: byKey(PIN), reserved: {pin: OTHER, until: LATER}})},
    true,
    /an operator allows/,
  ],
]

const FREE: NameClaims = {nodeExists: false, record: undefined, approved: [], newer: undefined}

describe('nameRules', () => {
  for (const [name, change, holds, reason] of rows) {
    it(`${holds ? 'give' : 'do not give'} the name where ${name}`, () => {
      const verdicts = nameRules(requested, from, {...FREE, ...change}, NOW)
      const decisive = verdicts.find((one) => !one.holds) ?? verdicts[0]
      assert.equal(decisive.holds, holds, decisive.reason)
      assert.match(decisive.reason, reason)
    })
  }

  it('give no name that a Node cannot have', () => {
    for (const node of ['UPPER', 'a b', '../x', '-a', 'a'.repeat(254), ''])
      assert.equal(nameRules({...requested, node}, from, FREE, NOW)[0].holds, false, node)
  })
})
