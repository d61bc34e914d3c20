import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {
  certificateApproval,
  certificateRevocation,
  certificateSigning,
  certificateSubjectRestriction,
} from '../../../src/server/admission/certificates.ts'
import {parseSpecRequest} from '../../../src/csr/read-request.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import type {Authorize} from '../../../src/server/kernel/resource.ts'
import {
  tokenRevocation,
  keyRevocation,
  type RevocationId,
  RevocationList,
} from '../../../src/trust/revocations.ts'
import {encoded, requestPem} from '../resources/certificates.ts'
import {admit} from './support.ts'

const resource = 'certificatesigningrequests'
const csr = (
  signerName: string,
  status: CertificateSigningRequest['status'] = {},
): CertificateSigningRequest => ({
  metadata: {name: 'c'},
  spec: {request: '', signerName, usages: ['client auth']},
  status,
})

/** Allows one verb on signers of these names. */
const allows =
  (verb: string, ...names: string[]): Authorize =>
  (_user, asked) => {
    const {group, resource: plural, name} = asked.resource ?? {}
    assert.deepEqual([group, plural], ['certificates.k8s.io', 'signers'])
    return {allowed: asked.verb === verb && names.includes(name ?? ''), reason: ''}
  }
/** As an authorizer that found its policy broken. */
const broken: Authorize = () => ({allowed: false, reason: '', evaluationError: 'no such role'})
const refusal = (why: string) => ({
  code: 403,
  message: `certificatesigningrequests.certificates.k8s.io "c" is forbidden: ${why}`,
})

describe('CertificateApproval', () => {
  const decide = (authorize: Authorize, sent = csr('abc.com/xyz'), subresource = 'approval') =>
    admit(
      certificateApproval,
      {resource, verb: 'update', name: 'c', subresource, object: sent, old: csr('abc.com/xyz')},
      {authorize},
    )
  const refused = refusal('user not permitted to approve requests with signerName "abc.com/xyz"')

  for (const name of ['abc.com/xyz', 'abc.com/*']) {
    it(`admits who may approve for ${name}`, async () => {
      await decide(allows('approve', name))
    })
  }

  const refusals: [string, Authorize][] = [
    ['who may approve for another signer', allows('approve', 'abc.com/other')],
    ['who may approve for another domain', allows('approve', 'xyz.com/*')],
    ['who may approve for a signer of this domain with a star', allows('approve', 'abc.com/xyz*')],
    ['who may approve for a name that is a star', allows('approve', '*')],
    ['who may only sign', allows('sign', 'abc.com/xyz', 'abc.com/*')],
    ['anyone while the authorizer has no answer', broken],
  ]
  for (const [name, authorize] of refusals) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(decide(authorize), refused)
    })
  }

  it('decides on the stored signer, whatever was sent', async () => {
    const mine = csr('mine.com/own')
    await assert.rejects(decide(allows('approve', 'mine.com/own', 'mine.com/*'), mine), refused)
    await decide(allows('approve', 'abc.com/xyz'), mine)
  })

  it('is not asked about other endpoints', async () => {
    await decide(broken, csr('abc.com/xyz'), '')
    await decide(broken, csr('abc.com/xyz'), 'status')
  })

  it('is not asked about other resources', async () => {
    const object = {metadata: {name: 'n'}}
    await admit(
      certificateApproval,
      {resource: 'nodes', verb: 'update', name: 'n', subresource: 'approval', object, old: object},
      {authorize: broken},
    )
  })
})

describe('CertificateSigning', () => {
  const old = csr('abc.com/xyz', {conditions: [{type: 'Approved', status: 'True'}]})
  const update = (
    authorize: Authorize,
    status: CertificateSigningRequest['status'],
    {signerName = 'abc.com/xyz', subresource = 'status'} = {},
  ) =>
    admit(
      certificateSigning,
      {resource, verb: 'update', name: 'c', subresource, object: csr(signerName, status), old},
      {authorize},
    )
  const issued = {...old.status, certificate: 'eA=='}
  const failed = {
    conditions: [
      {type: 'Approved', status: 'True' as const},
      {type: 'Failed', status: 'True' as const},
    ],
  }
  const refused = refusal('user not permitted to sign requests with signerName "abc.com/xyz"')

  for (const [name, status] of [
    ['a certificate', issued],
    ['a condition', failed],
  ] as const) {
    for (const signer of ['abc.com/xyz', 'abc.com/*']) {
      it(`admits ${name} of who may sign for ${signer}`, async () => {
        await update(allows('sign', signer), status)
      })
    }

    const refusals: [string, Authorize][] = [
      ['who may sign for another signer', allows('sign', 'abc.com/other')],
      ['who may sign for another domain', allows('sign', 'xyz.com/*')],
      ['who may only approve', allows('approve', 'abc.com/xyz', 'abc.com/*')],
      ['anyone while the authorizer has no answer', broken],
    ]
    for (const [who, authorize] of refusals) {
      it(`refuses ${name} of ${who}`, async () => {
        await assert.rejects(update(authorize, status), refused)
      })
    }
  }

  it('admits a status that stays as it is, whatever the authorizer says', async () => {
    await update(broken, structuredClone(old.status))
    await update(broken, {...old.status, certificate: ''})
  })

  it('decides on the stored signer, whatever was sent', async () => {
    const own = allows('sign', 'mine.com/own', 'mine.com/*')
    await assert.rejects(update(own, issued, {signerName: 'mine.com/own'}), refused)
  })

  it('is not asked about other endpoints', async () => {
    await update(broken, issued, {subresource: 'approval'})
    await update(broken, issued, {subresource: ''})
  })
})

describe('CertificateSubjectRestriction', () => {
  const CLIENT = 'kubernetes.io/kube-apiserver-client'
  const create = async (signerName: string, organizations: string[], request?: string) => {
    const asked = request ?? (await requestPem({commonName: 'x', organizations}))
    const made = csr(signerName)
    made.spec.request = encoded(asked)
    const restriction = certificateSubjectRestriction((signer) => signer === 'example.com/believed')
    await admit(restriction, {resource, name: 'c', object: made})
  }
  const refused = (signer = CLIENT) =>
    refusal(`use of ${signer} signer with system:masters group is not allowed`)

  it('refuses a client certificate of system:masters', async () => {
    await assert.rejects(create(CLIENT, ['system:masters']), refused())
    await assert.rejects(create(CLIENT, ['a', 'system:masters', 'b']), refused())
  })

  for (const signer of ['kubernetes.io/kube-apiserver-client-kubelet', 'example.com/believed']) {
    it(`refuses it of ${signer} too, whose certificates log in here`, async () => {
      await assert.rejects(create(signer, ['system:masters']), refused(signer))
    })
  }

  it('admits other groups', async () => {
    await create(CLIENT, ['system:admin', 'system:masters:not', 'System:masters'])
  })

  it('does not look at what other signers are asked for', async () => {
    await create('kubernetes.io/kubelet-serving', ['system:masters'])
    await create('example.com/x', [], 'nonsense')
  })

  it('refuses a request that cannot be read', async () => {
    await assert.rejects(create(CLIENT, [], 'nonsense'), {
      code: 403,
      message: /"c" is forbidden: unable to parse csr: PEM block type must be CERTIFICATE REQUEST$/,
    })
  })

  it('looks at creates only', async () => {
    const object = csr(CLIENT)
    await admit(certificateSubjectRestriction(), {resource, verb: 'update', object, old: object})
  })
})

describe('CertificateRevocation', () => {
  const FINGERPRINT = 'f'.repeat(64)
  const list = (...ids: RevocationId[]) => {
    const revoked = new RevocationList()
    revoked.set('one', {revocations: ids.map((id) => ({id, fingerprint: FINGERPRINT}))})
    return revoked
  }
  let old: CertificateSigningRequest
  let pin = ''
  let another = ''
  before(async () => {
    another = await requestPem({commonName: 'one', organizations: []})
    old = csr('abc.com/xyz')
    old.spec.request = encoded(await requestPem({commonName: 'one', organizations: []}))
    const verdict = parseSpecRequest(old.spec.request)
    pin = 'why' in verdict ? assert.fail(verdict.why) : pinOf(verdict.request)
  })
  const publish = (
    revoked: RevocationList,
    stored = old,
    status: CertificateSigningRequest['status'] = {certificate: 'x'},
  ) =>
    admit(certificateRevocation(revoked), {
      resource,
      verb: 'update',
      name: 'c',
      subresource: 'status',
      object: {...stored, status},
      old: stored,
    })

  it('admits a certificate if neither key nor requester is revoked', async () => {
    await publish(list(keyRevocation(`sha256:${'0'.repeat(64)}`)))
  })

  it('refuses a certificate for a revoked key', async () => {
    await assert.rejects(
      publish(list(keyRevocation(pin))),
      refusal('the key of the request is revoked'),
    )
  })

  it('refuses a certificate that was requested with a revoked one', async () => {
    const extra = {'authentication.kubernetes.io/credential-id': [`X509SHA256=${FINGERPRINT}`]}
    const stored = {...old, spec: {...old.spec, extra}}
    await assert.rejects(
      publish(list(keyRevocation(`sha256:${'0'.repeat(64)}`)), stored),
      refusal('the certificate that the request was made with is revoked'),
    )
  })

  it('refuses a certificate that was requested with a revoked key, or with a revoked token', async () => {
    const made = (extra: Record<string, string[]>) => ({
      ...old,
      spec: {...old.spec, request: encoded(another), extra},
    })
    await assert.rejects(
      publish(list(keyRevocation(pin)), made({'trustadm.io/caller-key': [pin]})),
      refusal('the key that the request was made with is revoked'),
    )
    await assert.rejects(
      publish(
        list(tokenRevocation('t')),
        made({'authentication.kubernetes.io/credential-id': ['JTI=t']}),
      ),
      refusal('the token that the request was made with is revoked'),
    )
  })

  it('admits a condition that says why there is no certificate', async () => {
    const failed = {type: 'Failed', status: 'True', reason: 'Revoked'} as const
    await publish(list(keyRevocation(pin)), old, {conditions: [failed]})
  })
})
