import assert from 'node:assert/strict'
import {formatRequest} from '../../../src/cli/views/requests-show.ts'
import {reservations} from '../../../src/cli/views/requests-warnings.ts'
import type {RequestReport} from '../../../src/control-plane/requests/show.ts'

const now = new Date('2026-01-01T00:00:00Z')
const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'

const report: RequestReport = {
  name: 'node-csr-1',
  uid: 'u',
  created: '2025-12-31T23:00:00Z',
  state: 'Pending',
  signer: SIGNER,
  usages: ['client auth'],
  requestedSeconds: null,
  requester: {username: 'system:bootstrap:abcdef', uid: '', groups: [], extra: {}},
  labels: {},
  request: null,
  pairingWords: null,
  conditions: [],
  adminRights: [],
  approvers: [
    {
      approver: 'selfnodeclient',
      decision: 'ignore',
      rules: [
        {
          code: 'signer',
          rule: `the signer is ${SIGNER}`,
          holds: true,
          reason: `the signer is "${SIGNER}"`,
        },
        {
          code: 'requester-is-subject',
          rule: 'the name is its own',
          holds: false,
          reason: '"a" asks for "b"',
        },
      ],
    },
    {
      approver: 'nodeclient',
      decision: 'hold',
      reason: 'NodeNameTaken',
      rules: [
        {
          code: 'signer',
          rule: `the signer is ${SIGNER}`,
          holds: true,
          reason: `the signer is "${SIGNER}"`,
        },
        {
          code: 'node-name',
          rule: 'the name is free',
          holds: false,
          reason: 'a Node of that name exists',
        },
      ],
    },
    {
      approver: 'kubelet-serving',
      decision: 'ignore',
      rules: [
        {
          code: 'signer',
          rule: 'the signer is another',
          holds: false,
          reason: `the signer is "${SIGNER}"`,
        },
        {code: 'names', rule: 'the names are registered', holds: false, reason: 'no name is'},
      ],
    },
  ],
  signerProblems: [],
  certificate: null,
  revoked: null,
  events: [],
  problems: [],
}

const text = (columns: number, more: Partial<RequestReport> = {}): string =>
  formatRequest({...report, ...more}, {now, stream: {isTTY: false, columns}})

describe('what is shown of a request', () => {
  it('is one line for an approver that does not look at it, with why', () => {
    const shown = text(80)
    assert.match(shown, /^ {2}· selfnodeclient does not handle it: "a" asks for "b"$/m)
    assert.match(
      shown,
      new RegExp(`^ {2}· kubelet-serving does not handle it: the signer is "${SIGNER}"$`, 'm'),
    )
    assert.doesNotMatch(shown, /no name is/)
  })

  it('is the rule where it holds, and what was found besides where it does not', () => {
    const shown = text(80)
    assert.match(shown, new RegExp(`^ {4}✔ the signer is ${SIGNER}$`, 'm'))
    assert.match(shown, /^ {4}✖ the name is free: a Node of that name exists$/m)
    assert.match(shown, /^ {2}! nodeclient leaves it to a person \(NodeNameTaken\)$/m)
  })

  for (const [code, rule, reason] of [
    ['node-name', 'the name is free, or granted', 'an operator allows it'],
    ['owned-by-node', 'the address is the node’s', 'it is in the EndpointSlice'],
    ['name-kept', 'the name was given to nobody since', 'it was given to a join before that'],
  ] as const) {
    it(`says by which of several ways a rule holds: ${code}`, () => {
      const rules = [{code, rule, holds: true, reason}]
      const approvers = [{approver: 'one', decision: 'approve' as const, rules}]
      assert.match(text(80, {approvers}), new RegExp(`^ {4}✔ ${reason}$`, 'm'))
    })
  }

  it('warns of groups with cluster-admin rights', () => {
    const adminRights = [{kind: 'group' as const, name: 'storage-team'}]
    assert.match(
      text(0, {adminRights}),
      /\nWarning\n {2}! the group storage-team has cluster-admin rights: whoever gets this certificate can do everything/,
    )
    assert.doesNotMatch(text(80), /Warning/)
  })

  it('names everything that speaks against it before somebody is asked', () => {
    const lines = reservations({
      ...report,
      adminRights: [{kind: 'user', name: 'ada'}],
      signerProblems: ['the usage "any" is not permitted'],
      problems: ['its events are not available'],
    })
    assert.deepEqual(
      lines.map((line) => line.split(':')[0]),
      [
        'the user ada has cluster-admin rights',
        'nodeclient',
        SIGNER,
        'its events are not available',
      ],
    )
    assert.match(lines[1] ?? '', /the name is free: a Node of that name exists/)
  })

  it('is no wider than a terminal', () => {
    const shown = formatRequest(report, {now, stream: {isTTY: true, columns: 80}})
    // eslint-disable-next-line no-control-regex -- colours have no width
    for (const line of shown.replaceAll(/\u001B\[\d+m/g, '').split('\n')) {
      assert.ok(line.length < 80, line)
    }
  })
})
