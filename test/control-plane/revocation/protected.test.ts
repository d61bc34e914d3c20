import assert from 'node:assert/strict'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {
  describeCertificate,
  type KnownCertificate,
} from '../../../src/control-plane/revocation/known-certificates.ts'
import {requireRevocations} from '../../../src/control-plane/revocation/list-store.ts'
import {requireUnprotected} from '../../../src/control-plane/revocation/protected.ts'
import {make, makeAuthority, type Made} from '../../pki/certificate-builder.ts'

const refusal = (reason: RegExp) => ({code: 'REVOCATION_PROTECTED', message: reason})

describe('certificates that are not revoked by a slip', () => {
  let own: Made
  let other: Made
  before(async () => {
    const root = await makeAuthority('root')
    own = await make({by: root, name: 'CN=ada'})
    other = await make({by: root, name: 'CN=bob'})
  })
  const pemOf = ({der}: Made) =>
    `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`

  it("are the caller's own, by its key or its serial number", () => {
    const {pin, serial, issuer} = describeCertificate(parseCertificate(pemOf(own)))
    const known: KnownCertificate[] = [
      {pin: pin ?? ''},
      {serial: serial ?? '', issuer: issuer ?? ''},
    ]
    for (const one of known) {
      assert.throws(
        () => requireUnprotected([one], {own: pemOf(own)}),
        refusal(/you authenticate with it$/),
      )
      requireUnprotected([one], {own: pemOf(other)})
      requireUnprotected([one], {})
    }
  })

  it('are those of the control plane', () => {
    const known = describeCertificate(parseCertificate(pemOf(own)))
    assert.throws(
      () => requireUnprotected([known], {controlPlane: [pemOf(other), pemOf(own)]}),
      refusal(/^the certificate of "ada" was not revoked: the control plane uses it$/),
    )
    for (const user of ['system:kube-controller-manager', 'system:kube-scheduler']) {
      assert.throws(() => requireUnprotected([{user}], {}), refusal(/the control plane uses it$/))
    }
  })

  for (const group of ['system:masters', 'kubeadm:cluster-admins']) {
    it(`are those of administrators in ${group}`, () => {
      const known = {user: 'ada', groups: ['crew', group]}
      assert.throws(() => requireUnprotected([known], {}), refusal(/it is an administrator's/))
    })
  }

  it('are not those of nodes and other users', () => {
    requireUnprotected([{user: 'system:node:a', groups: ['system:nodes']}, {user: 'ada'}], {
      own: pemOf(own),
    })
  })
})

describe('a server that cannot revoke certificates', () => {
  const serverOf = (gitVersion: string) => ({
    version: () => Promise.resolve({major: '1', minor: '36', gitVersion}),
  })

  it('is refused, for nothing would follow the list', async () => {
    await requireRevocations(serverOf('v1.36.0+trustadm.1.0.0'))
    await assert.rejects(requireRevocations(serverOf('v1.36.4')), {code: 'REVOCATION_UNSUPPORTED'})
  })
})
