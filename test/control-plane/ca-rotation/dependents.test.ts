import assert from 'node:assert/strict'
import type {Node} from '../../../src/api/node.ts'
import type {BootstrapCredential} from '../../../src/controllers/approval/bootstrap-credentials.ts'
import type {
  DependentOptions,
  Evidence,
  MemberTrust,
} from '../../../src/control-plane/ca-rotation/dependent.ts'
import {dependentsOn, nodeReasons} from '../../../src/control-plane/ca-rotation/dependents.ts'
import type {IssuedCertificate} from '../../../src/control-plane/issued-clients.ts'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {TRUST_REPORT} from '../../../src/node/trust-report.ts'
import type {SeenClientList, StoredClient} from '../../../src/server/authn/seen-clients.ts'

const pin = (digit: string) => `sha256:${digit.repeat(64)}`
const unit = (id: string, old: string, next: string) => ({
  id,
  old: {pin: pin(old), keyId: old.repeat(8), fingerprint: old.repeat(64)},
  new: {pin: pin(next), keyId: next.repeat(8), fingerprint: next.repeat(64)},
})
const JOURNAL: Journal = {
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-03-01T00:00:00.000Z',
  renewedAt: '2026-03-01T01:00:00.000Z',
  units: [
    unit('ca', 'a', 'b'),
    unit('client-ca', 'a', 'c'),
    unit('kubelet-serving-ca', 'd', 'e'),
    unit('sa', '1', '2'),
  ],
  done: [],
  overrides: [],
}
const NOW = new Date('2026-03-10T00:00:00Z')
const times = {notBefore: '2026-01-01T00:00:00Z', notAfter: '2027-01-01T00:00:00Z'}

const node = (name: string, trusts?: string[], key = 'c', servingKey?: string): Node => {
  const certificate = (id: string) => ({
    serial: '1',
    issuer: 'CN=x',
    issuerKeyId: id.repeat(8),
    ...times,
  })
  const report = trusts && {
    trusts: trusts.map(pin),
    client: certificate(key),
    ...(servingKey !== undefined && {serving: certificate(servingKey)}),
  }
  return {
    metadata: {name, ...(report && {annotations: {[TRUST_REPORT]: JSON.stringify(report)}})},
  }
}

const seen = (
  user: string,
  issuer: string,
  lastSeen: string,
  changes: Partial<StoredClient> = {},
): StoredClient => ({
  fingerprint: `${user} ${issuer}`,
  issuerPin: pin(issuer),
  user,
  groups: [],
  serial: '1',
  userAgent: 'kubectl',
  address: '10.0.0.1',
  firstSeen: lastSeen,
  lastSeen,
  notAfter: times.notAfter,
  ...changes,
})

/** A line of the issuance log. */
const issued = (
  user: string,
  digit: string,
  changes: Partial<IssuedCertificate> = {},
): IssuedCertificate => ({
  user,
  requester: 'admin',
  serial: '1',
  fingerprint: `${user} ${digit}`,
  issuerFingerprint: digit.repeat(64),
  ...times,
  ...changes,
})

const NONE = {dropped: 0, forgotten: [], clients: []}
/** What the server remembers, since before the rotation. */
const memory = (
  clients: StoredClient[],
  changes: Partial<SeenClientList> = {},
): SeenClientList => ({
  since: '2026-02-01T00:00:00.000Z',
  ...NONE,
  clients,
  tokens: NONE,
  ...changes,
})

/** Whoever asks has said that there are no copies of what was replaced in the folder of the control plane. */
const OLD = {on: 'old', now: NOW, own: new Set<string>(), ignored: ['replaced-here']} as const

const found = (
  {seen: clients = [], ...evidence}: Partial<Omit<Evidence, 'seen'>> & {seen?: StoredClient[]},
  options: Partial<DependentOptions> = {},
  changes: Partial<SeenClientList> = {},
) =>
  dependentsOn(
    JOURNAL,
    {nodes: [], seen: memory(clients, changes), issued: [], ...evidence},
    {
      ...OLD,
      own: new Set(['kubernetes-admin']),
      ...options,
      ignored: [...OLD.ignored, ...(options.ignored ?? [])],
    },
  ).map(({kind, name}) => `${kind} ${name}`)

describe('who depends on an old CA', () => {
  it('is a node that lacks the new CA, has an old certificate, or does not report', () => {
    const nodes = [
      node('ready', ['a', 'b']),
      node('untrusting', ['a']),
      node('old-certificate', ['a', 'b'], 'a'),
      node('old-serving', ['a', 'b'], 'c', 'd'),
      node('silent'),
    ]
    assert.deepEqual(found({nodes}), [
      'node old-certificate',
      'node old-serving',
      'node silent',
      'node untrusting',
    ])
  })

  it('is neither a Node nor the user of its machine if its name is ignored', () => {
    const evidence = {
      nodes: [node('w3')],
      seen: [seen('system:node:w3', 'a', '2026-03-02T00:00:00.000Z')],
    }
    assert.deepEqual(found(evidence), ['node w3', 'client system:node:w3'])
    assert.deepEqual(found(evidence, {ignored: ['w3']}), [])
    assert.deepEqual(found(evidence, {ignored: ['system:node:w3']}), ['node w3'])
    assert.deepEqual(found(evidence, {ignored: ['w']}).length, 2)
  })

  it('is no machine whose Node was deleted since it was seen, or got a certificate', () => {
    const [w1, w2] = ['system:node:w1', 'system:node:w2']
    const deletedNodes = [
      {name: 'w1', time: '2026-03-02T00:00:00.500Z'},
      {name: 'w1', time: '2026-03-01T00:00:00.500Z'},
    ]
    const named = (one: StoredClient) => found({seen: [one]}, {}, {deletedNodes})
    assert.deepEqual(named(seen(w1, 'a', '2026-03-01T23:59:59.999Z')), [])
    assert.deepEqual(named(seen(w1, 'a', '2026-03-02T00:00:01.000Z')), [`client ${w1}`])
    assert.deepEqual(named(seen(w2, 'a', '2026-03-01T23:59:59.999Z')), [`client ${w2}`])
    // A certificate begins five minutes before it is issued.
    const handedOut = (user: string, notBefore: string) =>
      found({issued: [issued(user, 'a', {notBefore})]}, {}, {deletedNodes})
    assert.deepEqual(handedOut(w1, '2026-03-01T23:54:59Z'), [])
    assert.deepEqual(handedOut(w1, '2026-03-01T23:55:00Z'), [`issued ${w1}`])
    assert.deepEqual(handedOut(w2, '2026-03-01T23:54:59Z'), [`issued ${w2}`])
    // One that was registered again has to follow.
    assert.deepEqual(found({nodes: [node('w1')]}, {}, {deletedNodes}), ['node w1'])
  })

  it('is told as a node without an agent, with the command to run there', () => {
    const evidence = {nodes: [node('silent')], seen: memory([]), issued: []}
    const [silent] = dependentsOn(JOURNAL, evidence, OLD)
    assert.deepEqual(silent?.reasons, [
      'does not report what it trusts: "trustadm node run" is not running there',
    ])
    assert.match(silent?.todo ?? '', /^run "trustadm node renew" on silent; /)
  })

  it('is told the same about a node that was also seen with an old certificate', () => {
    const clients = ['system:node:here', 'system:node:gone'].map((user) =>
      seen(user, 'a', '2026-03-02T00:00:00.000Z'),
    )
    const evidence = {nodes: [node('here')], seen: memory(clients), issued: []}
    const all = dependentsOn(JOURNAL, evidence, OLD)
    const todoOf = (wanted: string) => all.find(({name}) => name === wanted)?.todo
    assert.equal(todoOf('system:node:here'), todoOf('here'))
    assert.match(todoOf('here') ?? '', /^run "trustadm node renew" on here; /)
    assert.match(todoOf('system:node:gone') ?? '', /^give system:node:gone a new certificate/)
  })

  describe('a Node without a report', () => {
    const since = (creationTimestamp: string): Node => ({
      metadata: {name: 'late', creationTimestamp},
    })
    const after = since('2026-03-02T00:00:00Z')
    const user = 'system:node:late'
    const issuedBy = (digit: string) => issued(user, digit, {notBefore: '2026-03-02T00:00:00Z'})
    const byNew = seen(user, 'c', '2026-03-02T00:00:00.000Z')
    const byOld = seen(user, 'a', '2026-03-01T12:00:00.000Z')

    it('is nobody if its machine joined since the rotation began', () => {
      assert.deepEqual(found({nodes: [after], seen: [byNew], issued: [issuedBy('c')]}), [])
      assert.deepEqual(found({nodes: [after], issued: [issuedBy('c')]}), [])
      assert.deepEqual(found({nodes: [after], seen: [byNew], issued: [issuedBy('e')]}), [])
    })

    const cases: [string, Parameters<typeof found>[0], Partial<SeenClientList>?][] = [
      ['was there before', {nodes: [since('2026-02-02T00:00:00Z')], seen: [byNew]}],
      ['has shown no certificate', {nodes: [after]}],
      ['was seen with an old certificate, too', {nodes: [after], seen: [byNew, byOld]}],
      ['got an old certificate, too', {nodes: [after], issued: [issuedBy('a')], seen: [byNew]}],
      [
        'may have been seen by a server that cannot be asked',
        {nodes: [after], seen: [byNew], unasked: ['x']},
      ],
      [
        'may have been seen by a server that has forgotten it',
        {nodes: [after], seen: [byNew]},
        {since: '2026-03-02T00:00:00.000Z'},
      ],
    ]
    for (const [what, evidence, changes] of cases) {
      it(`is one if its machine ${what}`, () => {
        const names = found(evidence, {}, changes)
        assert.ok(names.includes('node late'), names.join())
      })
    }

    it('is a client of the new CA, if the rotation is aborted', () => {
      const names = found({nodes: [after], seen: [byNew]}, {on: 'new'})
      assert.ok(names.includes('client system:node:late'), names.join())
    })
  })

  it('is each old certificate of a user, whatever else the same program was seen with', () => {
    const old = seen('alice', 'a', '2026-03-02T00:00:00.000Z')
    assert.deepEqual(found({seen: [old]}), ['client alice'])
    const returned = seen('alice', 'c', '2026-03-03T00:00:00.000Z')
    const another = {...old, fingerprint: 'another'}
    assert.deepEqual(found({seen: [old, another, returned]}), ['client alice', 'client alice'])
    const evidence = {nodes: [], seen: memory([old, returned]), issued: []}
    const [alice] = dependentsOn(JOURNAL, evidence, OLD)
    assert.equal(alice?.fingerprint, old.fingerprint)
    assert.match(alice.reasons.join(), /the user was seen with another .* at 2026-03-03T00:00:00Z/)
  })

  it('is nobody whose certificate was revoked', () => {
    const revoked = new Set(['alice a', 'bob a'])
    const alice = seen('alice', 'a', '2026-03-02T00:00:00.000Z')
    const both = {seen: [alice], issued: [issued('bob', 'a'), issued('carol', 'a')]}
    assert.deepEqual(found({...both, revoked}), ['issued carol'])
  })

  it('is a registered node that was seen with an old certificate, whatever it reports', () => {
    const nodes = [node('here', ['a', 'b'])]
    const old = seen('system:node:here', 'a', '2026-03-02T00:00:00.000Z')
    assert.deepEqual(found({nodes, seen: [old]}), ['client system:node:here'])
    const returned = seen('system:node:here', 'c', '2026-03-03T00:00:00.000Z', {
      userAgent: 'kubelet',
      address: '10.0.0.2',
    })
    assert.deepEqual(found({nodes, seen: [old, returned]}), [])
    const again = {...old, lastSeen: '2026-03-04T00:00:00.000Z'}
    assert.deepEqual(found({nodes, seen: [again, returned]}), ['client system:node:here'])
  })

  it('is nobody with an expired certificate', () => {
    const notAfter = '2026-03-05T00:00:00Z'
    assert.deepEqual(
      found({seen: [seen('alice', 'a', '2026-03-02T00:00:00.000Z', {notAfter})]}),
      [],
    )
  })

  it('is whoever uses a copy of the administrator’s kubeconfig after it was renewed', () => {
    const before = seen('kubernetes-admin', 'a', '2026-03-01T00:30:00.000Z')
    const after = seen('kubernetes-admin', 'a', '2026-03-01T02:00:00.000Z')
    assert.deepEqual(found({seen: [before]}), [])
    assert.deepEqual(found({seen: [after]}), ['client kubernetes-admin'])
  })

  it('is each certificate that was issued and not seen, whatever else its user has', () => {
    const all = [
      issued('quiet', 'a'),
      issued('changed', 'a'),
      issued('changed', 'c', {notBefore: '2026-03-02T00:00:00Z'}),
      issued('twice', 'a', {fingerprint: 'twice 1'}),
      issued('twice', 'a', {fingerprint: 'twice 2', notBefore: '2026-02-02T00:00:00Z'}),
      issued('seen', 'a', {fingerprint: 'another one'}),
      issued('system:node:here', 'a'),
      issued('system:node:away', 'a'),
      issued('kubernetes-admin', 'a'),
    ]
    const nodes = [node('here', ['a', 'b'])]
    const clients = [seen('seen', 'c', '2026-03-02T00:00:00.000Z')]
    assert.deepEqual(found({issued: all, nodes, seen: clients}), [
      'issued changed',
      'issued kubernetes-admin',
      'issued quiet',
      'issued seen',
      'issued system:node:away',
      'issued twice',
      'issued twice',
    ])
    assert.deepEqual(found({issued: all, nodes}, {unseenFor: 1000}), [])
  })

  it('is whoever has a copy of what was replaced here, until a person says that nobody does', () => {
    const all = (changes: Partial<Journal>, options: Partial<DependentOptions> = {}) => {
      const evidence = {nodes: [], seen: memory([]), issued: []}
      const found = dependentsOn({...JOURNAL, ...changes}, evidence, {...OLD, ...options})
      return found.map(({kind, name}) => `${kind} ${name}`)
    }
    assert.deepEqual(all({}, {ignored: []}), ['replaced replaced-here'])
    assert.deepEqual(all({}), [])
    const week = 7 * 86_400_000
    assert.deepEqual(all({}, {ignored: [], unseenFor: week}), [])
    assert.deepEqual(all({}, {ignored: [], unseenFor: 2 * week}), ['replaced replaced-here'])
    assert.deepEqual(all({}, {ignored: [], on: 'new'}), [])
    // What the old CA has signed is refused already.
    const units = JOURNAL.units.map((one) => ({
      ...one,
      old: {...one.old, notAfter: '2026-03-09T00:00:00Z'},
    }))
    assert.deepEqual(all({units}, {ignored: []}), [])
    assert.deepEqual(all({units: [unit('front-proxy-ca', 'a', 'b')]}, {ignored: []}), [])
  })

  it('is a copy of them that was used since, whatever a person says', () => {
    const used = seen('kubernetes-admin', 'a', '2026-03-01T02:00:00.000Z')
    assert.deepEqual(found({seen: [used]}), ['client kubernetes-admin'])
  })

  it('is the machines that have no Node, as one group', () => {
    const clients = [seen('system:node:one', 'a', '2026-03-02T00:00:00.000Z')]
    const evidence = {seen: clients, issued: [issued('system:node:two', 'a')]}
    assert.deepEqual(found(evidence), ['client system:node:one', 'issued system:node:two'])
    assert.deepEqual(found(evidence, {ignored: ['unregistered-nodes']}), [])
    const nodes = [node('one', ['a', 'b'])]
    assert.deepEqual(found({...evidence, nodes}, {ignored: ['unregistered-nodes']}), [
      'client system:node:one',
    ])
  })

  it('is whoever was issued a certificate too recently to count as gone', () => {
    const week = 7 * 86_400_000
    const issuedAt = (notBefore: string) => [issued('quiet', 'a', {notBefore})]
    const recent = issuedAt('2026-03-09T23:00:00Z')
    assert.deepEqual(found({issued: recent}, {unseenFor: week}), ['issued quiet'])
    assert.deepEqual(found({issued: recent}, {unseenFor: 1000}), [])
    const older = issuedAt(times.notBefore)
    assert.deepEqual(found({issued: older}, {unseenFor: week}), [])
    // It may have been seen before the server began to remember.
    const ignored = ['forgotten-clients', 'forgotten-tokens']
    const since = '2026-03-09T00:00:00.000Z'
    assert.deepEqual(found({issued: older}, {unseenFor: week, ignored}, {since}), ['issued quiet'])
    const unknown = dependentsOn(
      JOURNAL,
      {nodes: [], seen: undefined, issued: older},
      {...OLD, ignored: [...OLD.ignored, ...ignored], unseenFor: week},
    )
    assert.deepEqual(
      unknown.map(({name}) => name),
      ['quiet'],
    )
    assert.match(
      unknown[0]?.reasons[0] ?? '',
      / until 2027-01-01T00:00:00Z, which admin asked for and nobody was seen with/,
    )
  })

  it('is nobody whom the operator ignores, by name or because it was not seen for long', () => {
    const evidence = {
      nodes: [node('silent')],
      seen: [seen('alice', 'a', '2026-03-02T00:00:00.000Z')],
    }
    assert.deepEqual(found(evidence, {ignored: ['silent', 'alice']}), [])
    const week = 7 * 86_400_000
    assert.deepEqual(found(evidence, {unseenFor: week}), ['node silent'])
  })

  it('is, for an abort, who has a certificate of the new CA', () => {
    const nodes = [node('back', ['a', 'b'], 'a'), node('ahead', ['a', 'b'])]
    const clients = [seen('alice', 'c', '2026-03-02T00:00:00.000Z')]
    assert.deepEqual(found({nodes, seen: clients}, {on: 'new'}), ['node ahead', 'client alice'])
  })

  it('is a node that uses an old certificate beside a new one, whichever was used last', () => {
    const here = 'system:node:here'
    const old = seen(here, 'a', '2026-03-02T09:00:00.000Z')
    const firstSeen = '2026-03-02T08:00:00.000Z'
    const both = seen(here, 'c', '2026-03-02T09:00:01.000Z', {firstSeen})
    const nodes = [node('here', ['a', 'b'])]
    assert.deepEqual(found({nodes, seen: [old, both]}), [`client ${here}`])
    // Old connections end a little later than new ones begin.
    const changed = {...both, firstSeen: '2026-03-02T08:58:00.000Z'}
    assert.deepEqual(found({nodes, seen: [old, changed]}), [])
  })

  it('is a client of a CA beside the first in the file of the old one', () => {
    const others = [{pin: pin('f'), keyId: 'f'.repeat(8), fingerprint: 'f'.repeat(64)}]
    const units = JOURNAL.units.map((one) =>
      one.id === 'client-ca' ? {...one, old: {...one.old, others}} : one,
    )
    const evidence = {
      nodes: [node('beside', ['a', 'b'], 'f')],
      seen: memory([seen('alice', 'f', '2026-03-02T00:00:00.000Z')]),
      issued: [issued('bob', 'f')],
    }
    const names = dependentsOn({...JOURNAL, units}, evidence, OLD).map(
      ({kind, name}) => `${kind} ${name}`,
    )
    assert.deepEqual(names, ['node beside', 'client alice', 'issued bob'])
  })

  describe('whom the server has forgotten', () => {
    const forgotten = (issuer: string) => [
      {issuerPin: issuer && pin(issuer), count: 2, lastSeen: '2026-03-05T00:00:00.000Z'},
    ]
    const since = '2026-03-04T00:00:00.000Z'

    it('is whoever used an old certificate before the list was lost', () => {
      assert.deepEqual(found({}, {}, {since}), [
        'forgotten forgotten-clients',
        'forgotten forgotten-tokens',
      ])
      assert.deepEqual(found({}, {}, {since: '2026-03-01T00:00:00.000Z'}), [])
    })

    it('is whoever was one too many, of the old CA or of an unknown one', () => {
      assert.deepEqual(found({}, {}, {forgotten: forgotten('a')}), ['forgotten forgotten-clients'])
      assert.deepEqual(found({}, {}, {forgotten: forgotten('')}), ['forgotten forgotten-clients'])
      assert.deepEqual(found({}, {}, {forgotten: forgotten('c')}), [])
      const tokens = {...NONE, forgotten: forgotten('1')}
      assert.deepEqual(found({}, {}, {tokens}), ['forgotten forgotten-tokens'])
    })

    it('is everybody if the server remembers nobody', () => {
      const none = dependentsOn(JOURNAL, {nodes: [], seen: undefined, issued: []}, OLD)
      assert.deepEqual(
        none.map(({name}) => name),
        ['forgotten-clients', 'forgotten-tokens'],
      )
    })

    it('is whoever is in a log of certificates that was moved away, or has more than is listed', () => {
      const moved = [{server: 'one', more: [], began: '2026-02-01T00:00:00.000Z'}]
      assert.deepEqual(found({unlisted: moved}), ['forgotten forgotten-certificates'])
      const units = JOURNAL.units.map((one) => {
        const old = {...one.old, notBefore: '2026-02-02T00:00:00.000Z'}
        return one.id === 'client-ca' ? {...one, old} : one
      })
      const evidence = {nodes: [], seen: memory([]), issued: [], unlisted: moved}
      assert.deepEqual(dependentsOn({...JOURNAL, units}, evidence, OLD), [])
      const more = (digit: string) => [
        {server: 'one', more: [{issuerFingerprint: digit.repeat(64), count: 3}]},
      ]
      assert.deepEqual(found({unlisted: more('a')}), ['forgotten forgotten-certificates'])
      assert.deepEqual(found({unlisted: more('c')}), [])
    })

    it('is nobody whom the operator takes for gone', () => {
      const ignored = ['forgotten-clients', 'forgotten-tokens']
      assert.deepEqual(found({}, {ignored}, {since}), [])
      const day = 86_400_000
      assert.deepEqual(found({}, {unseenFor: 4 * day}, {since, forgotten: forgotten('a')}), [])
      assert.equal(found({}, {unseenFor: 7 * day}, {since}).length, 2)
    })
  })

  it('is a signer that an operator lets sign with a copy of the old CA', () => {
    const named = (name: string, digit: string) => ({
      name,
      location: '/etc/signer.crt',
      subject: 'CN=x',
      pin: pin(digit),
      notAfter: times.notAfter,
    })
    const signers = [{host: 'elsewhere', signers: [named('old', 'a'), named('own', '9')]}]
    assert.deepEqual(found({signers}), ['signer old'])
  })

  describe('with a bootstrap credential of before', () => {
    const credential = (
      kind: BootstrapCredential['kind'],
      created: string,
      changes: Partial<BootstrapCredential> = {},
    ): BootstrapCredential => ({
      kind,
      id: `${kind}-${created}`,
      namespace: 'kube-system',
      object: `Secret kube-system/${kind}`,
      credential: null,
      created,
      expires: null,
      ...changes,
    })
    const [early, late] = ['2026-01-01T00:00:00Z', '2026-03-01T01:00:01Z']
    const all = [
      credential('certificate', early),
      credential('certificate', late),
      credential('certificate', early, {id: 'over', expires: '2026-03-09T00:00:00Z'}),
      credential('token', early),
    ]

    it('is a certificate whose kubeconfig has only the old CA, and a token, each by its kind', () => {
      assert.deepEqual(found({bootstrap: all}), [
        `bootstrap certificate-${early}`,
        'bootstrap kube-system/token',
      ])
      const evidence = {nodes: [], seen: memory([]), issued: [], bootstrap: all}
      const [certificate, token] = dependentsOn(JOURNAL, evidence, OLD)
      assert.match(certificate?.reasons.join() ?? '', /only the old CA of the API server/)
      assert.match(certificate?.todo ?? '', /into the image of your machines .* revoke this one/)
      assert.match(token?.reasons.join() ?? '', /token of a service account .* old key has signed/)
      assert.match(token?.todo ?? '', /--kind token .* --ignore kube-system\/token/)
    })

    it('is none of them if neither the CA of the API server nor the key of tokens leaves', () => {
      const names = (id: string) => {
        const evidence = {nodes: [], seen: memory([]), issued: [], bootstrap: all}
        const journal = {...JOURNAL, units: [unit(id, '8', '9')]}
        return dependentsOn(journal, evidence, OLD).map(({name}) => name)
      }
      assert.deepEqual(names('front-proxy-ca'), [])
      assert.deepEqual(names('sa'), ['kube-system/token'])
      assert.deepEqual(names('ca'), [`certificate-${early}`, 'kube-system/token'])
    })

    it('is nobody for an abort, nor if the operator has changed the images', () => {
      assert.deepEqual(found({bootstrap: all}, {on: 'new'}), [])
      const ignored = [`certificate-${early}`, 'kube-system/token']
      assert.deepEqual(found({bootstrap: all}, {ignored}), [])
    })
  })

  it('is a member of etcd that refuses the new CA, and an etcd that cannot be asked', () => {
    const journal = {...JOURNAL, units: [unit('etcd-ca', 'a', 'b')]}
    const [one, two, three] = ['https://one:2379', 'https://one:2380', 'https://two:2379']
    const found = (etcd: MemberTrust[], ignored: string[] = []) => {
      const evidence = {nodes: [], seen: memory([]), issued: [], etcd}
      return dependentsOn(journal, evidence, {...OLD, ignored}).map(({name}) => name)
    }
    const trusts = {server: one, state: 'trusts'} as const
    const refuses = {server: two, state: 'refuses'} as const
    const unknown = {server: three, state: 'unknown', reason: 'it is off'} as const
    assert.deepEqual(found([trusts]), [])
    assert.deepEqual(found([trusts, refuses, unknown]), ['etcd', two])
    // What was checked is not believed otherwise.
    assert.deepEqual(found([trusts, refuses, unknown], ['etcd']), [two])
    assert.deepEqual(found([]), ['etcd'])
  })

  it('is an etcd of which this control plane knows nothing', () => {
    const journal = {...JOURNAL, units: [unit('etcd-ca', 'a', 'b')]}
    const evidence = {nodes: [], seen: memory([]), issued: []}
    const names = (options: Partial<DependentOptions>) =>
      dependentsOn(journal, evidence, {...OLD, ...options}).map(({name}) => name)
    assert.deepEqual(names({}), ['etcd'])
    assert.deepEqual(names({ignored: ['etcd']}), [])
    // Until the completion begins, nothing is signed by the new one.
    assert.deepEqual(names({on: 'new'}), [])
  })

  describe('with a token of the old key', () => {
    const robot = 'system:serviceaccount:default:robot'
    const used = (key: string, lastSeen: string, changes: Partial<StoredClient> = {}) =>
      seen(robot, key, lastSeen, {serial: '', ...changes})
    const withTokens = (...clients: StoredClient[]) => found({}, {}, {tokens: {...NONE, clients}})

    it('is each token, until its pod comes back with one of the new key', () => {
      const old = used('1', '2026-03-02T00:00:00.000Z')
      assert.deepEqual(withTokens(old), [`token ${robot}`])
      // Another program has it.
      const other = used('2', '2026-03-03T00:00:00.000Z')
      assert.deepEqual(withTokens(old, other), [`token ${robot}`])
      const [pod, returned] = [old, other].map((one) => ({...one, holder: 'pod default/one (1)'}))
      assert.ok(pod && returned)
      assert.deepEqual(withTokens(pod, {...returned, userAgent: 'other'}), [])
      assert.deepEqual(withTokens(pod, {...returned, holder: 'pod default/two (2)'}), [
        `token ${robot}`,
      ])
      assert.deepEqual(withTokens({...old, notAfter: '2026-03-05T00:00:00Z'}), [])
    })

    it('is a Secret whose token nobody replaces', () => {
      const keyId = (digit: string) => Buffer.from(digit.repeat(64), 'hex').toString('base64url')
      const tokenSecrets = [
        {name: 'default/old', keyId: keyId('1')},
        {name: 'default/new', keyId: keyId('2')},
      ]
      assert.deepEqual(found({tokenSecrets}), ['secret default/old'])
    })
  })
})

const PIN = `sha256:${'b'.repeat(64)}`
const keyed = (id: string, oldKey: string) => ({
  id,
  old: {pin: `sha256:${'a'.repeat(64)}`, keyId: oldKey},
  new: {pin: PIN, keyId: 'bb'},
})

const certificate = (issuerKeyId?: string) => ({
  serial: '1',
  issuer: 'CN=x',
  ...(issuerKeyId !== undefined && {issuerKeyId}),
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
})

/** How many reasons a node has whose certificates name these keys. */
const countReasons = (
  key: string | undefined,
  oldKey: string,
  on: 'old' | 'new' = 'old',
): number => {
  const report = {trusts: [PIN], client: certificate(key), serving: certificate(key)}
  const node = {metadata: {name: 'one', annotations: {[TRUST_REPORT]: JSON.stringify(report)}}}
  const units = [keyed('client-ca', oldKey), keyed('kubelet-serving-ca', oldKey)]
  return nodeReasons({units}, node, on, NOW).length
}

describe('a node whose kubelet does not know the CA of its callers', () => {
  it('would refuse them, until it reports that CA', () => {
    const reasons = (kubeletClients?: string[]) => {
      const report = {trusts: [PIN], client: certificate('cc'), kubeletClients}
      const node = {metadata: {name: 'one', annotations: {[TRUST_REPORT]: JSON.stringify(report)}}}
      return nodeReasons({units: [keyed('kubelet-ca', 'aa')]}, node, 'old', NOW)
    }
    assert.equal(reasons([PIN]).length, 0)
    for (const found of [reasons([]), reasons()])
      assert.match(found.join(), /its kubelet does not accept the new CA/)
  })
})

describe('a node whose issuer cannot be told', () => {
  it('depends on the old CA if its certificates do not name the key', () => {
    assert.equal(countReasons(undefined, 'aa'), 2)
    assert.equal(countReasons(undefined, 'aa', 'new'), 0)
  })

  it('depends on an old CA whose key has no id, unless the new one has signed', () => {
    assert.equal(countReasons('aa', ''), 2)
    assert.equal(countReasons('bb', ''), 0)
  })

  it('is told by the id of the key otherwise', () => {
    assert.deepEqual([countReasons('aa', 'aa'), countReasons('bb', 'aa')], [2, 0])
    assert.deepEqual([countReasons('aa', 'aa', 'new'), countReasons('bb', 'aa', 'new')], [0, 2])
    assert.equal(countReasons('cc', 'aa'), 0)
  })
})

describe('who would be locked out by an abort', () => {
  const issuedAt = (user: string, digit: string, notBefore: string) =>
    issued(user, digit, {notBefore})
  const later = '2026-03-02T00:00:00Z'
  const after = '2026-03-03T00:00:00Z'

  it('is no kubelet that never got a certificate of a new CA', () => {
    const nodes = [node('kubelet'), node('agent', ['a', 'b'], 'a'), node('served')]
    const all = [
      issued('system:node:kubelet', 'a'),
      issued('system:node:served', 'a'),
      issuedAt('system:node:served', 'c', later),
    ]
    assert.deepEqual(found({nodes, issued: all}, {on: 'new'}), ['node served'])
  })

  it('is a kubelet until it has replaced both, that for clients and that for servers', () => {
    const nodes = [node('kubelet')]
    const user = 'system:node:kubelet'
    const [client, serving] = [issuedAt(user, 'c', later), issuedAt(user, 'e', later)]
    const named = (...all: (typeof client)[]) => found({nodes, issued: all}, {on: 'new'}).length
    assert.equal(named(client, serving), 1)
    assert.equal(named(client, serving, issuedAt(user, 'a', after)), 1)
    assert.equal(named(client, serving, issuedAt(user, 'd', after)), 1)
    assert.equal(named(client, serving, issuedAt(user, 'a', after), issuedAt(user, 'd', after)), 0)
  })
})
