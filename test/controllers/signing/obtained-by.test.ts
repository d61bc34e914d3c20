import assert from 'node:assert/strict'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {
  ObtainedCertificates,
  type JoinCredential,
} from '../../../src/controllers/signing/obtained-by.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const BOOTSTRAPPER = 'system:serviceaccount:kube-system:node-bootstrapper'

const line = (fingerprint: string, wish: Partial<Issuance>) => ({
  time: TIME,
  decision: 'issued' as const,
  signer: 'kubernetes.io/kube-apiserver-client-kubelet',
  request: `csr-${fingerprint}`,
  uid: 'u',
  requester: 'system:bootstrap:abcdef',
  subject: 'O=system:nodes, CN=system:node:one',
  names: {dns: [], ips: [], emails: [], uris: []},
  serial: fingerprint,
  fingerprint,
  notAfter: TIME,
  ...wish,
  prev: '',
  hash: '',
})

function obtained(credential: JoinCredential, ...lines: ReturnType<typeof line>[]) {
  const collected = new ObtainedCertificates(credential)
  for (const one of lines) collected.see(one)
  return collected.found.map(({fingerprint, node, by}) => [fingerprint, node, by])
}

describe('what was obtained by a credential', () => {
  it('is what a bootstrap token asked for, and not what another token did', () => {
    const first = line('a1', {})
    const other = line('b1', {requester: 'system:bootstrap:zzzzzz'})
    assert.deepEqual(obtained({tokenId: 'abcdef'}, first, other), [['a1', 'one', 'credential']])
  })

  it('is what was requested with the certificate or token of that credential-id', () => {
    const mine = line('a1', {requester: BOOTSTRAPPER, credential: 'JTI=1'})
    const others = line('b1', {requester: BOOTSTRAPPER, credential: 'JTI=2'})
    assert.deepEqual(obtained({credentialId: 'JTI=1'}, mine, others), [['a1', 'one', 'credential']])
  })

  it('includes renewals and serving certificates, however often a certificate was renewed', () => {
    const node = {requester: 'system:node:one'}
    const lines = [
      line('a1', {}),
      line('a2', {...node, credential: 'X509SHA256=a1'}),
      line('a3', {...node, credential: 'X509SHA256=a2'}),
      line('s1', {
        ...node,
        credential: 'X509SHA256=a3',
        signer: 'kubernetes.io/kubelet-serving',
      }),
    ]
    assert.deepEqual(
      obtained({tokenId: 'abcdef'}, ...lines).map(([fingerprint, , by]) => [fingerprint, by]),
      [
        ['a1', 'credential'],
        ['a2', 'certificate'],
        ['a3', 'certificate'],
        ['s1', 'certificate'],
      ],
    )
  })

  it('leaves out a later machine of the same name that came by something else', () => {
    const rejoined = line('b1', {requester: 'system:bootstrap:zzzzzz'})
    const renewed = line('b2', {requester: 'system:node:one', credential: 'X509SHA256=b1'})
    const found = obtained({tokenId: 'abcdef'}, line('a1', {}), rejoined, renewed)
    assert.deepEqual(found, [['a1', 'one', 'credential']])
  })

  it('follows the name of the node in lines that do not say which certificate was used', () => {
    const renewed = line('a2', {requester: 'system:node:one'})
    const other = line('b2', {requester: 'system:node:two'})
    assert.deepEqual(
      obtained({tokenId: 'abcdef'}, line('a1', {}), renewed, other).map(([id]) => id),
      ['a1', 'a2'],
    )
  })

  it('takes no other node from a subject that only contains its name', () => {
    const subject = 'O=x, CN=system:node:victim, CN=eve'
    assert.deepEqual(obtained({tokenId: 'abcdef'}, line('a1', {subject})), [
      ['a1', undefined, 'credential'],
    ])
  })

  it('leaves out what was refused', () => {
    assert.deepEqual(obtained({tokenId: 'abcdef'}, line('a1', {decision: 'refused'})), [])
  })
})
