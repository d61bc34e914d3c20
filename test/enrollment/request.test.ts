import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {parseSpecRequest} from '../../src/csr/read-request.ts'
import {buildRequest, submitRequest, type WantedCertificate} from '../../src/enrollment/request.ts'
import {TrustError} from '../../src/errors.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {verifyRequest} from '../../src/pki/request.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const WANTED: WantedCertificate = {
  subject: {commonName: 'ada', organizations: ['dev']},
  names: NO_NAMES,
  signer: 'kubernetes.io/kube-apiserver-client',
  usages: ['digital signature', 'client auth'],
  seconds: 3600,
}

describe('asking for a certificate', () => {
  let server: TestServer
  let admin: ApiClient
  let keys: KeyPair
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    keys = await generateKeys()
  })
  after(() => server.stop())
  afterEach(() => admin.csrs.deleteCollection({}))

  const submit = async (wanted = WANTED, by = keys) =>
    submitRequest(admin, await buildRequest({name: 'a'}, wanted, by))

  it('sends what is wanted, signed by the key', async () => {
    const {csr, isResumed} = await submit()
    assert.equal(isResumed, false)
    const {spec} = csr
    assert.equal(spec.signerName, WANTED.signer)
    assert.deepEqual(spec.usages, WANTED.usages)
    assert.equal(spec.expirationSeconds, 3600)
    const verdict = parseSpecRequest(spec.request)
    assert.ok('request' in verdict)
    await verifyRequest(verdict.request)
    assert.equal(verdict.request.subject.commonName, 'ada')
    assert.deepEqual(verdict.request.subject.organizations, ['dev'])
    assert.ok(verdict.request.publicKey.equals(keys.publicKey))
  })

  it('sends the names of a service', async () => {
    const names = {...NO_NAMES, dns: ['web.default.svc'], ips: ['192.0.2.7']}
    const {csr} = await submit({...WANTED, names, usages: ['server auth'], signer: 'example.com/s'})
    const verdict = parseSpecRequest(csr.spec.request)
    assert.ok('request' in verdict)
    assert.deepEqual(verdict.request.names, names)
  })

  it('resumes with a request for the same by the same key', async () => {
    const {csr: first} = await submit()
    const {csr, isResumed} = await submit({...WANTED, usages: [...WANTED.usages].reverse()})
    assert.equal(isResumed, true)
    assert.equal(csr.metadata.uid, first.metadata.uid)
  })

  const others: [string, Partial<WantedCertificate>][] = [
    ['another user', {subject: {commonName: 'bob', organizations: ['dev']}}],
    ['other groups', {subject: {commonName: 'ada', organizations: ['dev', 'ops']}}],
    ['names', {names: {...NO_NAMES, dns: ['web']}}],
    ['another signer', {signer: 'example.com/s'}],
    ['other usages', {usages: ['client auth']}],
    ['another lifetime', {seconds: 7200}],
  ]
  for (const [what, change] of others) {
    it(`refuses a request of that name for ${what}`, async () => {
      await submit({...WANTED, ...change})
      await assert.rejects(submit(), {code: 'ALREADY_EXISTS', message: /another .* "a"$/})
    })
  }

  it('refuses a request of that name by another key', async () => {
    await submit(WANTED, await generateKeys())
    await assert.rejects(submit(), {code: 'ALREADY_EXISTS'})
  })

  it('fails at once if the server is not there', async () => {
    const gone = new TrustError('SERVER_UNREACHABLE', 'gone')
    const csrs = {create: () => Promise.reject(gone)} as unknown as ApiClient['csrs']
    await assert.rejects(submitRequest({csrs}, await buildRequest({name: 'a'}, WANTED, keys)), gone)
  })
})
