import assert from 'node:assert/strict'
import type {Node} from '../../../src/api/node.ts'
import {byUrgency, reportOn, type NodeFacts} from '../../../src/control-plane/nodes/report.ts'
import {
  emptyRecord,
  readRecord,
  recordIssued,
} from '../../../src/controllers/approval/node-record.ts'
import {TRUST_REPORT, formatTrustReport, type TrustReport} from '../../../src/node/trust-report.ts'
import {DAY, NOW} from '../../pki/support.ts'

const CA = `sha256:${'ab'.repeat(32)}` as const
const OTHER_CA = `sha256:${'cd'.repeat(32)}` as const
const after = (days: number) => new Date(NOW.getTime() + days * DAY)
const text = (days: number) => after(days).toISOString().replace('.000Z', 'Z')

const certificate = (from: number, to: number) => ({
  serial: '1f',
  issuer: 'CN=kubernetes',
  notBefore: text(from),
  notAfter: text(to),
})

const node = (report?: Partial<TrustReport>, status: Node['status'] = {}): Node => ({
  metadata: {
    name: 'a',
    creationTimestamp: text(-9),
    ...(report && {
      annotations: {
        [TRUST_REPORT]: formatTrustReport({trusts: [CA], client: certificate(-1, 9), ...report}),
      },
    }),
  },
  status,
})

const commandFor = (command: string) => `trustadm ${command} --dir /p`
const report = (facts: Partial<NodeFacts> = {}, authorities: readonly string[] = [CA]) =>
  reportOn({node: node({}), waiting: [], ...facts}, {now: NOW, authorities, commandFor})
const accepting = (keyId: string, fingerprint = 'f0') => ({
  keyIds: new Set([keyId]),
  fingerprints: new Set([fingerprint]),
})
const codes = (...args: Parameters<typeof report>) => report(...args).problems.map(({code}) => code)

describe('the report on a node', () => {
  it('says what the node says of itself', () => {
    const lastRenewal = text(-1)
    const serving = certificate(-2, 8)
    assert.deepEqual(report({node: node({lastRenewal, serving})}), {
      name: 'a',
      registered: text(-9),
      certificate: {...certificate(-1, 9), source: 'node'},
      serving: {...serving, source: 'node'},
      trusts: [CA],
      lastRenewal,
      problems: [],
    })
  })

  it('takes what was issued if the node does not report', () => {
    const newest = {
      serial: '2a',
      issuer: 'CN=other',
      notBefore: after(-1),
      notAfter: after(3),
    }
    const {
      certificate: found,
      lastRenewal,
      trusts,
    } = report({
      node: node(),
      issued: {newest, at: after(-0.9), count: 2},
    })
    assert.deepEqual(found, {
      serial: '2a',
      issuer: 'CN=other',
      notBefore: text(-1),
      notAfter: text(3),
      source: 'issued',
    })
    assert.deepEqual([lastRenewal, trusts], [text(-0.9), null])
    const first = {newest, at: after(-0.9), count: 1}
    assert.equal(report({node: node(), issued: first}).lastRenewal, null)
  })

  describe('of a node that got a certificate after its last report', () => {
    const newest = {serial: '2a', issuer: 'CN=other', notBefore: after(-2), notAfter: after(8)}
    const issued = {newest, at: after(-1.9), count: 1}
    const expired = {client: certificate(-9, -1), lastRenewal: text(-8.9)}
    const conditions = (status: 'True' | 'Unknown') => ({conditions: [{type: 'Ready', status}]})

    it('shows the newer certificate, and when it was issued', () => {
      const {certificate: found, lastRenewal} = report({node: node(expired), issued})
      assert.deepEqual(found, {
        serial: '2a',
        issuer: 'CN=other',
        notBefore: text(-2),
        notAfter: text(8),
        source: 'issued',
      })
      assert.equal(lastRenewal, text(-1.9))
    })

    it('says nothing against a kubelet that renewed it and works', () => {
      assert.deepEqual(codes({node: node(expired, conditions('True')), issued}), [])
    })

    it('says that another machine may have it if nothing shows that the node uses it', () => {
      for (const one of [node(expired), node(expired, conditions('Unknown'))]) {
        const [found] = report({node: one, issued}).problems
        assert.equal(found?.code, 'newer-certificate')
        assert.match(
          found.message,
          /still reports 1f, which expired on .*another machine has got it$/,
        )
      }
      const valid = {client: certificate(-9, 9)}
      const [found] = report({node: node(valid, conditions('True')), issued}).problems
      assert.equal(found?.code, 'newer-certificate')
    })

    it('believes the report if what was issued is older, or expires at an unknown time', () => {
      const older = {...newest, notBefore: after(-10)}
      const {notAfter: _, ...endless} = newest
      for (const one of [older, endless]) {
        const {certificate: found} = report({node: node({}), issued: {newest: one, count: 2}})
        assert.equal(found?.source, 'node')
      }
    })
  })

  it('takes the record of its name if nothing else is known', () => {
    const issued = {pin: CA, notBefore: after(-1), notAfter: after(2), issuer: 'CN=other'}
    const record = recordIssued(emptyRecord('a'), issued, NOW) ?? assert.fail()
    const {certificate: found} = report({node: node(), record: readRecord(record)})
    assert.deepEqual(found, {
      serial: null,
      issuer: 'CN=other',
      notBefore: text(-1),
      notAfter: text(2),
      source: 'record',
    })
  })

  it('has nothing wrong with a node that is fine', () => {
    assert.deepEqual(codes(), [])
    assert.deepEqual(codes({}, []), [])
  })

  describe('whose CA was replaced without it', () => {
    const context = {
      now: NOW,
      authorities: [OTHER_CA],
      clientAuthorities: accepting('0b'),
      commandFor,
    }
    const conditions = [{type: 'Ready', status: 'Unknown'}]
    const reporting = node({client: {...certificate(-1, 9), issuerKeyId: '0a'}}, {conditions})
    const issued = (more: object) => ({
      newest: {serial: '1f', notBefore: after(-1), notAfter: after(9), ...more},
      count: 1,
    })
    const problemsOf = (facts: Partial<NodeFacts>) =>
      reportOn({node: node(undefined, {conditions}), waiting: [], ...facts}, context).problems

    it('says that it is locked out, and the way back, instead of what follows from that', () => {
      const [found, ...more] = problemsOf({node: reporting})
      assert.equal(found?.code, 'locked-out')
      assert.match(
        found.message,
        /must join again: run "trustadm node leave" on it.*"trustadm token create --print-join-command --dir \/p" prints.*--node-name a$/,
      )
      assert.deepEqual(more, [])
    })

    it('is found by its request or the issuance log if it does not report', () => {
      for (const issuer of [{issuerKeyId: '0a'}, {issuerKeyId: '0a', issuerFingerprint: 'f1'}]) {
        const [found] = problemsOf({issued: issued(issuer)})
        assert.equal(found?.code, 'locked-out')
      }
    })

    it('is found by its own report if the issuance log has only a fingerprint', () => {
      const {serial} = certificate(-1, 9)
      const known = issued({serial, issuerFingerprint: 'f1'})
      const [found] = problemsOf({node: reporting, issued: known})
      assert.equal(found?.code, 'locked-out')
    })

    it('is not said of one that has a certificate of the new CA, or of which that is not known', () => {
      for (const facts of [
        {issued: issued({issuerKeyId: '0b'})},
        {issued: issued({issuerFingerprint: 'f0'})},
        // The CA may have been issued again with the same key.
        {issued: issued({issuerFingerprint: 'f1'})},
        {issued: issued({issuerKeyId: '0b', issuerFingerprint: 'f1'})},
        {issued: issued({})},
        {node: reporting, issued: issued({serial: '2f', issuerKeyId: '0b'})},
        {},
      ]) {
        assert.ok(!problemsOf(facts).some(({code}) => code === 'locked-out'))
      }
    })
  })

  const cases: [string, string[], Partial<NodeFacts>][] = [
    ['its certificate has expired', ['expired'], {node: node({client: certificate(-9, 0)})}],
    [
      'its certificate is of the future',
      ['not-yet-valid'],
      {node: node({client: certificate(1, 9)})},
    ],
    [
      'it was not renewed in time',
      ['renewal-overdue'],
      {node: node({client: certificate(-91, 9)})},
    ],
    [
      'its serving certificate has expired',
      ['expired'],
      {node: node({serving: certificate(-9, -1)})},
    ],
    ['it does not trust a CA', ['ca-not-trusted'], {node: node({trusts: [OTHER_CA]})}],
    ['its key is revoked', ['revoked'], {revoked: ': stolen'}],
    ['a request waits', ['request-waits'], {waiting: ['csr-1']}],
    ['nothing is known', ['unknown'], {node: node()}],
    [
      'it is not ready',
      ['not-ready'],
      {node: node({}, {conditions: [{type: 'Ready', status: 'Unknown'}]})},
    ],
    [
      'another certificate was issued for it later',
      ['newer-certificate'],
      {issued: {newest: {serial: '2a', notBefore: after(-0.5), notAfter: after(9)}, count: 2}},
    ],
    [
      'somebody with a token got a certificate for its name when the Node was there',
      ['taken-over'],
      {
        node: node({}),
        taken: {request: 'csr-1', requester: 'system:bootstrap:abcdef', at: text(-1)},
      },
    ],
    [
      'nothing is wrong, because it joined before it had a Node',
      [],
      {
        node: node({}),
        taken: {request: 'csr-1', requester: 'system:bootstrap:abcdef', at: text(-9)},
      },
    ],
    [
      'several things are wrong: the worst comes first',
      ['revoked', 'expired', 'ca-not-trusted', 'request-waits'],
      {
        node: node({client: certificate(-9, -1), trusts: []}),
        waiting: ['csr-1'],
        revoked: '',
      },
    ],
  ]
  for (const [name, expected, facts] of cases) {
    it(`says if ${name}`, () => assert.deepEqual(codes(facts), expected))
  }

  it('is not about 90 % of the lifetime: a node may renew that late', () => {
    assert.deepEqual(codes({node: node({client: certificate(-89, 11)})}), [])
  })

  it('is sorted by the worst problem, then by expiry, then by name', () => {
    const named = (name: string, client: TrustReport['client'], revoked?: string) => {
      const one = node({client})
      return report({node: {...one, metadata: {...one.metadata, name}}, revoked})
    }
    const sorted = [
      named('later', certificate(-1, 9)),
      named('b', certificate(-1, 5)),
      named('a', certificate(-1, 5)),
      named('expired', certificate(-9, -1)),
      named('revoked', certificate(-1, 9), ''),
    ].sort(byUrgency)
    assert.deepEqual(
      sorted.map(({name}) => name),
      ['revoked', 'expired', 'a', 'b', 'later'],
    )
  })
})
