import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {accessReview} from '../../../src/controllers/approval/access-review.ts'
import {
  CLIENT_APPROVERS,
  clientOpinion,
  type ClientFacts,
} from '../../../src/controllers/approval/client-approvers.ts'
import {allHold, objections} from '../../../src/controllers/approval/opinion.ts'
import {opinionsOn} from '../../../src/controllers/approval/opinions.ts'
import {CLIENT_USAGES, SERVING, readable, wished, type Wish} from './support.ts'

interface Row {
  name: string
  wish: Wish
  nodeclient: boolean
  selfnodeclient: boolean
}

const both = (name: string, wish: Wish, recognised: boolean): Row => ({
  name,
  wish,
  nodeclient: recognised,
  selfnodeclient: recognised,
})

/** Cases 04 A; and the forms of a name that no node has. */
const rows: Row[] = [
  both('a kubelet’s own request', {}, true),
  both('a common name that is no node’s', {commonName: 'mike', username: 'mike'}, false),
  both('no organization', {organizations: []}, false),
  both('another organization', {organizations: ['system:master']}, false),
  both('one more organization', {organizations: ['system:nodes', 'x']}, false),
  both('server auth besides', {usages: [...CLIENT_USAGES, 'server auth']}, false),
  both('a missing usage', {usages: ['key encipherment', 'client auth']}, false),
  both('a foreign signer', {signerName: 'example.com/not-correct'}, false),
  both('the serving signer', {signerName: SERVING}, false),
  both('the signer of users', {signerName: 'kubernetes.io/kube-apiserver-client'}, false),
  both('a DNS name', {names: {dns: ['foo']}}, false),
  both('an address', {names: {ips: ['10.0.0.1']}}, false),
  both('an email', {names: {emails: ['a@example.com']}}, false),
  both('a URI', {names: {uris: ['spiffe://a/b']}}, false),
  both('an empty name', {commonName: 'system:node:', username: 'system:node:'}, false),
  {
    name: 'another requester',
    wish: {username: 'joe'},
    nodeclient: true,
    selfnodeclient: false,
  },
  {
    name: 'the name of another node',
    wish: {commonName: 'system:node:bar'},
    nodeclient: true,
    selfnodeclient: false,
  },
]

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
  claims: {nodeExists: false, record: undefined, approved: [], rivals: 0},
}

describe('client approvers', () => {
  for (const {name, wish, ...expected} of rows) {
    for (const change of [(csr: CertificateSigningRequest) => csr, withoutEncipherment]) {
      const form = change === withoutEncipherment ? ', without key encipherment' : ''
      it(`${name}${form}: nodeclient ${expected.nodeclient}, selfnodeclient ${expected.selfnodeclient}`, async () => {
        const csr = change(await wished(wish))
        for (const approver of CLIENT_APPROVERS) {
          const isExpected = expected[approver.name]
          assert.equal(allHold(approver.recognise(csr, readable(csr))), isExpected, approver.name)
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
    const facts = {...FREE, review}
    const opinions = opinionsOn(csr, {
      client: {selfnodeclient: facts, nodeclient: facts},
      serving: {voucher: undefined, deny: false},
    })
    assert.deepEqual(
      opinions.map(({approver, decision, reason}) => ({approver, decision, reason})),
      [
        {approver: 'selfnodeclient', decision: 'hold', reason: 'NotAllowed'},
        {approver: 'nodeclient', decision: 'hold', reason: 'NotAllowed'},
        {approver: 'kubelet-serving', decision: 'ignore', reason: undefined},
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

  it('ignore what cannot be read', () => {
    const request = Buffer.from('-----BEGIN??').toString('base64')
    const csr = {metadata: {name: 'x'}, spec: {request, signerName: SERVING, usages: []}}
    const opinions = opinionsOn(csr, {client: {}, serving: {voucher: undefined, deny: true}})
    assert.deepEqual(
      opinions.map(({decision}) => decision),
      ['ignore', 'ignore', 'ignore'],
    )
  })
})
