import assert from 'node:assert/strict'
import {requestPem} from '../resources/certificates.ts'
import {BETA_CSRS, CSRS, condition, csrObject, encoded, useServer} from './support.ts'

const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
const SERVING = 'kubernetes.io/kubelet-serving'
const LEGACY = 'kubernetes.io/legacy-unknown'
const client = ['digital signature', 'client auth']
const serving = ['digital signature', 'server auth']
const NODE = {commonName: 'system:node:a', organizations: ['system:nodes']}
const both = {dns: ['a'], ips: ['192.0.2.1']}

/** Cases 01, E: the mutations of a good one, and the signer that v1beta1 finds each to be for. */
const shapes: [
  name: string,
  subject: {commonName: string; organizations: string[]},
  names: {dns?: string[]; ips?: string[]; emails?: string[]; uris?: string[]},
  usages: string[],
  signer: string,
][] = [
  ['a client', NODE, {}, client, CLIENT],
  ['a client that enciphers', NODE, {}, [...client, 'key encipherment'], CLIENT],
  ['a server', NODE, both, serving, SERVING],
  ['a server that enciphers', NODE, both, [...serving, 'key encipherment'], SERVING],
  ['a client of another organization', {...NODE, organizations: ['x']}, {}, client, LEGACY],
  ['a server of another organization', {...NODE, organizations: ['x']}, both, serving, LEGACY],
  [
    'a client of a second organization',
    {...NODE, organizations: ['system:nodes', 'x']},
    {},
    client,
    LEGACY,
  ],
  ['a client without a name', {...NODE, commonName: 'system:node:'}, {}, client, LEGACY],
  ['a server without a name', {...NODE, commonName: 'system:node:'}, both, serving, LEGACY],
  ['a client of another name', {...NODE, commonName: 'a'}, {}, client, LEGACY],
  ['a server of another name', {...NODE, commonName: 'a'}, both, serving, LEGACY],
  ['a client that serves', NODE, {}, [...client, 'server auth'], LEGACY],
  ['a server that is a client', NODE, both, [...serving, 'client auth'], LEGACY],
  ['a client without its usage', NODE, {}, ['digital signature'], LEGACY],
  ['a client that does not sign', NODE, {}, ['client auth'], LEGACY],
  ['a server without its usage', NODE, both, ['digital signature'], LEGACY],
  ['a server that does not sign', NODE, both, ['server auth'], LEGACY],
  ['a client with a DNS name', NODE, {dns: ['a']}, client, LEGACY],
  ['a server with a DNS name', NODE, {dns: ['a']}, serving, SERVING],
  ['a client with an address', NODE, {ips: ['192.0.2.1']}, client, LEGACY],
  ['a server with an address', NODE, {ips: ['192.0.2.1']}, serving, SERVING],
  ['a server without name and address', NODE, {}, serving, LEGACY],
  ['a client with a mail address', NODE, {emails: ['a@example.com']}, client, LEGACY],
  ['a server with a mail address', NODE, {...both, emails: ['a@b.com']}, serving, LEGACY],
  ['a client with a URI', NODE, {uris: ['https://example.com']}, client, LEGACY],
  ['a server with a URI', NODE, {...both, uris: ['https://a.com']}, serving, LEGACY],
]

describe('CertificateSigningRequests by v1beta1', () => {
  const {api} = useServer()

  for (const [name, subject, names, usages, signer] of shapes) {
    it(`are for ${signer.replace('kubernetes.io/', '')} where they are of ${name}`, async () => {
      const request = encoded(await requestPem(subject, names))
      const object = csrObject({request, usages, signerName: undefined})
      const {status, body, text} = await api().post(BETA_CSRS, object)
      assert.equal(status, 201, text)
      assert.equal(body.spec.signerName, signer)
    })
  }

  it('keep the signer that is named', async () => {
    const request = encoded(await requestPem(NODE))
    const object = csrObject({request, usages: client, signerName: 'example.com/x'})
    assert.equal((await api().make(BETA_CSRS, object)).spec.signerName, 'example.com/x')
  })

  it('have two usages where none are given', async () => {
    const {spec} = await api().make(BETA_CSRS, csrObject({usages: undefined}))
    assert.deepEqual(spec.usages, ['digital signature', 'key encipherment'])
  })

  it('may have usages that nobody knows, and twice', async () => {
    const usages = ['unknown', 'unknown']
    assert.deepEqual((await api().make(BETA_CSRS, csrObject({usages}))).spec.usages, usages)
  })

  it('have a signature that is checked all the same', async () => {
    const answer = await api().post(BETA_CSRS, csrObject({request: encoded('nonsense')}))
    assert.equal(answer.status, 422)
    assert.match(answer.causes.join(), /^spec\.request: /)
  })

  it('are refused for a lifetime that is too short', async () => {
    const answer = await api().post(BETA_CSRS, csrObject({expirationSeconds: 599}))
    assert.equal(answer.status, 422)
  })

  it('are the same objects as those of v1, each in the version that was asked for', async () => {
    const {metadata} = await api().make(BETA_CSRS, csrObject({signerName: LEGACY}))
    const old = await api().get(`${BETA_CSRS}/${metadata.name}`)
    const now = await api().get(`${CSRS}/${metadata.name}`)
    assert.equal(old.body.apiVersion, 'certificates.k8s.io/v1beta1')
    assert.equal(now.body.apiVersion, 'certificates.k8s.io/v1')
    assert.deepEqual(now.body.spec, old.body.spec)
    assert.equal(now.body.metadata.resourceVersion, old.body.metadata.resourceVersion)
    const made = await api().make(CSRS, csrObject())
    const read = await api().get(`${BETA_CSRS}/${made.metadata.name}`)
    assert.deepEqual(read.body.spec, made.spec)
    const {items} = (await api().get(BETA_CSRS)).body
    assert.ok(items.some((item) => item.metadata.name === made.metadata.name))
  })

  it('come with a warning that this version is gone elsewhere', async () => {
    const {headers} = await api().get(BETA_CSRS)
    assert.equal(
      headers.warning,
      '299 - "certificates.k8s.io/v1beta1 CertificateSigningRequest is deprecated in v1.19+, unavailable in v1.22+; use certificates.k8s.io/v1 CertificateSigningRequest"',
    )
    assert.equal((await api().get(CSRS)).headers.warning, undefined)
  })

  describe('once they are there', () => {
    const made = async () => {
      const {metadata} = await api().make(BETA_CSRS, csrObject())
      return `${BETA_CSRS}/${metadata.name}`
    }
    const at = async (path: string, endpoint: string, status: object) => {
      const {body} = await api().get(path)
      return api().put(`${path}${endpoint}`, {...body, status: {...body.status, ...status}})
    }

    it('are approved by a condition that says no status, by PUT and by patch', async () => {
      const [put, patched] = [await made(), await made()]
      const conditions = [{type: 'Approved', reason: 'x'}]
      const byPut = await at(put, '/approval', {conditions})
      const byPatch = await api().patch(`${patched}/approval`, {status: {conditions}})
      for (const {status, body, text} of [byPut, byPatch]) {
        assert.equal(status, 200, text)
        assert.equal(body.status.conditions[0].status, 'True')
      }
    })

    it('may have conditions of the same type, and of none', async () => {
      const conditions = [condition('Seen'), condition('Seen'), condition('')]
      const {status, text} = await at(await made(), '/status', {conditions})
      assert.equal(status, 200, text)
    })

    it('may be given any certificate, but never another one in the place of an issued one', async () => {
      const path = await made()
      const {status, body, text} = await at(path, '/status', {certificate: encoded('one')})
      assert.equal(status, 200, text)
      assert.equal(body.status.certificate, encoded('one'))
      for (const version of ['v1beta1', 'v1']) {
        const sent = {certificate: encoded('another')}
        const answer = await at(path.replace('v1beta1', version), '/status', sent)
        assert.equal(answer.status, 422, version)
        assert.match(answer.text, /updates may not modify existing certificate content/)
      }
    })

    it('are decided through /approval only, once, and for one of the two', async () => {
      const path = await made()
      const approved = {conditions: [condition('Approved')]}
      assert.equal((await at(path, '/status', approved)).status, 422)
      assert.equal((await at(path, '/approval', approved)).status, 200)
      assert.equal((await at(path, '/approval', {conditions: []})).status, 422)
      const denied = {conditions: [condition('Approved'), condition('Denied')]}
      assert.equal((await at(path, '/approval', denied)).status, 422)
    })
  })
})
