import assert from 'node:assert/strict'
import type {Node} from '../../../src/api/node.ts'
import {
  dependentsOn,
  type DependentOptions,
  type Evidence,
} from '../../../src/control-plane/ca-rotation/dependents.ts'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {TRUST_REPORT} from '../../../src/node/trust-report.ts'
import type {SeenClient} from '../../../src/server/authn/seen-clients.ts'

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
  units: [unit('ca', 'a', 'b'), unit('client-ca', 'a', 'c'), unit('kubelet-serving-ca', 'd', 'e')],
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
  changes: Partial<SeenClient> = {},
): SeenClient => ({
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

const found = (evidence: Partial<Evidence>, options: Partial<DependentOptions> = {}) =>
  dependentsOn(
    JOURNAL,
    {nodes: [], seen: [], issued: [], ...evidence},
    {on: 'old', now: NOW, own: new Set(['kubernetes-admin']), ...options},
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

  it('is a client that uses an old certificate, until it comes back with a new one', () => {
    const old = seen('alice', 'a', '2026-03-02T00:00:00.000Z')
    assert.deepEqual(found({seen: [old]}), ['client alice'])
    const returned = seen('alice', 'c', '2026-03-03T00:00:00.000Z')
    assert.deepEqual(found({seen: [old, returned]}), [])
    const elsewhere = {...returned, address: '10.0.0.2'}
    assert.deepEqual(found({seen: [old, elsewhere]}), ['client alice'])
    const again = {...old, lastSeen: '2026-03-04T00:00:00.000Z'}
    assert.deepEqual(found({seen: [again, returned]}), ['client alice'])
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

  it('is whoever was issued a certificate and was not seen', () => {
    const issued = (user: string, digit: string, notBefore = times.notBefore) => ({
      user,
      issuerFingerprint: digit.repeat(64),
      notBefore,
      notAfter: times.notAfter,
    })
    const all = [
      issued('quiet', 'a'),
      issued('changed', 'a'),
      issued('changed', 'c', '2026-03-02T00:00:00Z'),
      issued('system:node:here', 'a'),
      issued('system:node:away', 'a'),
    ]
    const nodes = [node('here', ['a', 'b'])]
    assert.deepEqual(found({issued: all, nodes}), ['issued quiet', 'issued system:node:away'])
    assert.deepEqual(found({issued: all, nodes}, {unseenFor: 1000}), [])
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
})
