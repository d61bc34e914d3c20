import assert from 'node:assert/strict'
import {
  createBootstrapCertificate,
  createCredential,
} from '../../../src/control-plane/bootstrap-credentials/create.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {verifyClientCertificate} from '../../../src/pki/client-identity.ts'
import {DAY, fixedClock, NOW} from '../../pki/support.ts'

const create = (namespace = 'kube-system') => createBootstrapCertificate(namespace, fixedClock())

describe('a bootstrap certificate', () => {
  it('is valid for ten years, and its CA for no less', async () => {
    const {authority, certificate} = await create()
    const [ca, leaf] = [parseCertificate(authority), parseCertificate(certificate)]
    const days = (leaf.notAfter.getTime() - leaf.notBefore.getTime()) / DAY
    assert.equal(days, 3650)
    assert.ok(ca.notAfter >= leaf.notAfter)
    const later = new Date(leaf.notAfter.getTime())
    assert.ok((await verifyClientCertificate(leaf.der, [], [ca], later)).ok)
  })

  it('is for the bootstrapper, with the groups of its service account, as a client only', async () => {
    const {subject, extendedKeyUsages, isAuthority} = parseCertificate((await create()).certificate)
    assert.equal(subject.commonName, 'system:serviceaccount:kube-system:node-bootstrapper')
    assert.deepEqual(subject.organizations, [
      'system:serviceaccounts',
      'system:serviceaccounts:kube-system',
    ])
    assert.deepEqual([extendedKeyUsages, isAuthority], [['client auth'], false])
  })

  it('may have a common name of 73 characters, as OpenShift has it', async () => {
    const {certificate} = await create('openshift-machine-config-operator')
    assert.equal(parseCertificate(certificate).subject.commonName.length, 73)
  })

  it('has a CA of its own each time', async () => {
    const [one, two] = [await create(), await create()]
    const ca = parseCertificate(one.authority)
    const stranger = parseCertificate(two.certificate)
    assert.equal(ca.subject.commonName, 'kubelet-bootstrap-kubeconfig-signer')
    assert.equal((await verifyClientCertificate(stranger.der, [], [ca], NOW)).ok, false)
  })
})

describe('creating a bootstrap certificate for another API server', () => {
  it('is refused before anything is read or written but its version', async () => {
    const client = {version: () => Promise.resolve({gitVersion: 'v1.36.4'})}
    const creating = createCredential(
      {client, access: {server: 'https://127.0.0.1:1'}} as unknown as Parameters<
        typeof createCredential
      >[0],
      {
        kind: 'certificate',
        namespace: 'kube-system',
        tell: () => undefined,
        warn: () => undefined,
        clock: fixedClock(),
      },
    )
    await assert.rejects(creating, {
      code: 'USAGE',
      suggestions: ['use --kind token; nothing was created'],
    })
  })
})
