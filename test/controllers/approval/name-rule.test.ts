import assert from 'node:assert/strict'
import {
  nameRule,
  type ApprovedRequest,
  type NameClaims,
} from '../../../src/controllers/approval/name-rule.ts'
import type {NodeRecord} from '../../../src/controllers/approval/node-record.ts'
import type {Asked} from '../../../src/controllers/approval/asked.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const EARLIER = new Date('2026-01-01T11:00:00Z')
const LATER = new Date('2026-01-01T13:00:00Z')
const PIN = 'sha256:aa'
const OTHER = 'sha256:bb'

const asked = {node: 'foo', pin: PIN} as unknown as Asked

const record = (change: Partial<NodeRecord> = {}): NodeRecord => ({
  holder: OTHER,
  issuedAt: EARLIER,
  until: LATER,
  allowedUntil: undefined,
  reserved: undefined,
  lease: {metadata: {}},
  ...change,
})
const approved = (change: Partial<ApprovedRequest> = {}): ApprovedRequest => ({
  name: 'csr-0',
  pin: OTHER,
  ...change,
})

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
    'an operator allows it',
    {record: record({allowedUntil: LATER}), nodeExists: true},
    true,
    /an operator allows one re-join until 2026/,
  ],
  [
    'an operator allowed it, too long ago',
    {record: record({allowedUntil: EARLIER}), nodeExists: true},
    false,
    /a Node of that name exists, and a certificate/,
  ],
  [
    'an operator allows it, and another key asks for it too',
    {record: record({allowedUntil: LATER}), nodeExists: true, rivals: 1},
    false,
    /a re-join is allowed, but 2 keys ask for it/,
  ],
  ['nobody has it, and another key asks for it too', {rivals: 1}, true, /free/],
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
    {record: record({allowedUntil: LATER, reserved: {pin: OTHER, until: LATER}})},
    true,
    /an operator allows/,
  ],
]

describe('nameRule', () => {
  for (const [name, change, holds, reason] of rows) {
    it(`${holds ? 'gives' : 'does not give'} the name where ${name}`, () => {
      const claims = {nodeExists: false, record: undefined, approved: [], rivals: 0, ...change}
      const verdict = nameRule(asked, claims, NOW)
      assert.equal(verdict.holds, holds, verdict.reason)
      assert.match(verdict.reason, reason)
    })
  }

  it('gives no name that a Node cannot have', () => {
    const free = {nodeExists: false, record: undefined, approved: [], rivals: 0}
    for (const node of ['UPPER', 'a b', '../x', '-a', 'a'.repeat(254), ''])
      assert.equal(nameRule({...asked, node}, free, NOW).holds, false, node)
  })
})
