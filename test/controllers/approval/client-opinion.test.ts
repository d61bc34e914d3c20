import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {accessReview} from '../../../src/controllers/approval/access-review.ts'
import {clientOpinion, type ClientFacts} from '../../../src/controllers/approval/client-opinion.ts'
import {CLIENT_APPROVERS, recognise} from '../../../src/csr/approvers.ts'
import {allHold, objections} from '../../../src/csr/opinion.ts'
import {CLIENT_CASES} from './client-cases.ts'
import {readable, wished} from './support.ts'

const withoutEncipherment = (csr: CertificateSigningRequest): CertificateSigningRequest => ({
  ...csr,
  spec: {
    ...csr.spec,
    usages: (csr.spec.usages ?? []).filter((usage) => usage !== 'key encipherment'),
  },
})

const FREE: ClientFacts = {
  now: new Date('2026-01-01T00:00:00Z'),
  review: {allowed: true, reason: ''},
  claims: {nodeExists: false, record: undefined, approved: [], newer: undefined},
}

describe('client approvers', () => {
  for (const {name, wish, ...expected} of CLIENT_CASES) {
    for (const change of [(csr: CertificateSigningRequest) => csr, withoutEncipherment]) {
      const form = change === withoutEncipherment ? ', without key encipherment' : ''
      it(`${name}${form}: nodeclient ${expected.nodeclient}, selfnodeclient ${expected.selfnodeclient}`, async () => {
        const csr = change(await wished(wish))
        for (const approver of CLIENT_APPROVERS) {
          const isExpected = expected[approver.name]
          assert.equal(allHold(recognise(approver, csr, readable(csr))), isExpected, approver.name)
          const {decision} = clientOpinion(approver, csr, readable(csr), FREE)
          assert.equal(decision, isExpected ? 'approve' : 'ignore', approver.name)
        }
      })
    }
  }

  it('are asked in Kubernetes’ order', () => {
    assert.deepEqual(
      CLIENT_APPROVERS.map(({name}) => name),
      ['selfnodeclient', 'nodeclient'],
    )
  })

  it('ask for the requester’s right with all that the request says of them', async () => {
    const {metadata, spec} = await wished()
    const csr = {metadata, spec: {...spec, uid: 'u', extra: {key: ['value']}}}
    assert.deepEqual(accessReview(csr, 'nodeclient').spec, {
      user: 'system:node:foo',
      uid: 'u',
      groups: ['system:nodes', 'system:authenticated'],
      extra: {key: ['value']},
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
        version: '*',
        subresource: 'nodeclient',
      },
    })
  })

  it('hold what they recognise and may not approve, and say why', async () => {
    const csr = await wished()
    const review = {allowed: false, reason: 'no binding'}
    const opinions = CLIENT_APPROVERS.map((approver) =>
      clientOpinion(approver, csr, readable(csr), {...FREE, review}),
    )
    assert.deepEqual(
      opinions.map(({approver, decision, reason}) => ({approver, decision, reason})),
      [
        {approver: 'selfnodeclient', decision: 'hold', reason: 'NotAllowed'},
        {approver: 'nodeclient', decision: 'hold', reason: 'NotAllowed'},
      ],
    )
    assert.match(objections(opinions[0]!), /not allowed by a SubjectAccessReview: no binding/)
  })

  it('hold where nobody could find out, and say what', async () => {
    const csr = await wished({username: 'joe'})
    const opinion = clientOpinion(CLIENT_APPROVERS[1]!, csr, readable(csr), {
      ...FREE,
      review: {unknown: 'may not ask'},
      claims: {unknown: 'may not read'},
    })
    assert.equal(opinion.decision, 'hold')
    assert.equal(objections(opinion), 'not known: may not ask; not known: may not read')
  })
})
