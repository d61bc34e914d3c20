import assert from 'node:assert/strict'
import {request as httpsRequest} from 'node:https'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo} from '../../src/client/connect.ts'
import {cleanRequests} from '../../src/controllers/csr-cleaner.ts'
import {startTestServer, type Credentials, type TestServer} from '../helpers/test-server.ts'
import {DAY, testAuthority, testLeaf} from '../pki/support.ts'
import {CLEANER_CASES, type CleanerCase} from './cleaner-cases.ts'
import {wished} from './approval/support.ts'

/** v1beta1 keeps whatever stands for a certificate, and so lets an unreadable one be stored. */
const BETA = '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests'
const LONGEST = 9 * DAY

describe('cleaning certificate requests, over HTTP', () => {
  let server: TestServer
  let credentials: Credentials
  let admin: ApiClient

  before(async () => {
    server = await startTestServer({controllers: false})
    credentials = await server.credentialsFor('admin', ['system:masters'])
    admin = connectTo({server: server.url, ca: server.ca, clientCertificate: credentials})
  })
  after(async () => {
    await admin.close()
    await server.stop()
  })

  async function certificateOf(kind: CleanerCase['certificate'], now: Date): Promise<string> {
    if (kind === 'garbage') return Buffer.from('garbage').toString('base64')
    const {issuer} = await testAuthority()
    const end = now.getTime() + (kind === 'valid' ? DAY : -1000)
    const validity = {notBefore: new Date(0), notAfter: new Date(end)}
    return Buffer.from((await testLeaf(issuer, {validity})).pem).toString('base64')
  }

  async function putBeta(csr: CertificateSigningRequest): Promise<void> {
    const {certificate: cert, key} = credentials
    const body = JSON.stringify({...csr, apiVersion: 'certificates.k8s.io/v1beta1'})
    const headers = {'content-type': 'application/json'}
    const url = `${server.url}${BETA}/${csr.metadata.name ?? ''}/status`
    const status = await new Promise((resolve, reject) => {
      httpsRequest(url, {method: 'PUT', ca: server.ca, cert, key, headers}, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end(body)
    })
    assert.equal(status, 200)
  }

  /** Makes it now, and as old as it must be on the cleaner's clock. */
  async function store({age = LONGEST, conditions = [], certificate}: CleanerCase) {
    const {spec} = await wished({signerName: 'example.com/any'})
    const {request, signerName, usages = []} = spec
    const csr = {metadata: {name: 'one'}, spec: {request, signerName, usages}}
    let stored = await admin.csrs.create(csr)
    const created = Date.parse(stored.metadata.creationTimestamp ?? '')
    const now = new Date(created + age)
    if (conditions.length > 0) {
      const written = conditions.map(({type, age: since}) => ({
        type,
        status: 'True' as const,
        lastUpdateTime: new Date(now.getTime() - (since ?? 0)).toISOString(),
      }))
      stored = await admin.csrs.updateSubresource('approval', {
        ...stored,
        status: {conditions: written},
      })
    }
    if (certificate !== undefined) {
      const status = {...stored.status, certificate: await certificateOf(certificate, now)}
      await putBeta({...stored, status})
    }
    return now
  }

  // The server gives every condition a time, so that there is none without one to be cleaned.
  const stored = CLEANER_CASES.filter(
    ({conditions = []}) => !conditions.some(({age}) => age === null),
  )
  for (const row of stored) {
    it(`${row.goes ? 'deletes' : 'keeps'} what was ${row.name}`, async () => {
      const now = await store(row)
      await cleanRequests(admin, admin, {now: () => now})('all', new AbortController().signal)
      assert.equal((await admin.csrs.find('one')) === undefined, row.goes)
      if (!row.goes) await admin.csrs.delete('one')
    })
  }
})
