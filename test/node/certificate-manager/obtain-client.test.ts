import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {parseSpecRequest} from '../../../src/csr/read-request.ts'
import {TrustError} from '../../../src/errors.ts'
import type {NodeConnection} from '../../../src/node/certificate-manager/connection.ts'
import {obtainClient} from '../../../src/node/certificate-manager/obtain-client.ts'
import type {Pair} from '../../../src/node/certificate-manager/pair.ts'
import {requestCertificate} from '../../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../../src/node/client-certificate.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {generateKeys, type KeyAlgorithm} from '../../../src/pki/keys.ts'
import {systemClock as clock} from '../../../src/runtime.ts'

const HOUR = 3_600_000

describe('a request for a client certificate', () => {
  const {signal} = new AbortController()
  let sent: CertificateSigningRequest[]
  beforeEach(() => (sent = []))
  /** A server that fails once it has the request. */
  const client = {
    csrs: {
      create: (csr: CertificateSigningRequest) => {
        sent.push(csr)
        return Promise.reject(new TrustError('SERVER_UNREACHABLE', 'it is away'))
      },
    },
  } as unknown as ApiClient

  const usagesWith = async (algorithm: KeyAlgorithm) => {
    const keys = await generateKeys(algorithm)
    await assert.rejects(requestCertificate(client, clientCertificate('a'), keys, {clock}), {
      code: 'SERVER_UNREACHABLE',
    })
    return sent[0]?.spec.usages
  }

  it('asks for key encipherment with an RSA key', async () => {
    assert.deepEqual(await usagesWith('RSA-2048'), [
      'digital signature',
      'client auth',
      'key encipherment',
    ])
  })

  it('does not ask for key encipherment with an ECDSA key', async () => {
    assert.deepEqual(await usagesWith('ECDSA-P256'), ['digital signature', 'client auth'])
  })

  it('hands in what the node has seen of the issuance log', async () => {
    const head = {chain: 'a'.repeat(64), size: 9, hash: 'b'.repeat(64), seal: 'c'.repeat(32)}
    const witness = {seen: () => Promise.resolve(head), keep: () => Promise.resolve()}
    const keys = await generateKeys()
    await assert.rejects(requestCertificate(client, clientCertificate('a'), keys, {clock, witness}))
    assert.deepEqual(sent[0]?.metadata.annotations, {
      'trustadm.io/witnessed-head': `${'a'.repeat(64)}:9:${'b'.repeat(64)}:${'c'.repeat(32)}`,
    })
  })

  it('is another one for a key that is kept once the first has led to a certificate that has expired', async () => {
    const keys = await generateKeys()
    const {pem: ca, issuer} = await makeAuthority()
    const past = (hours: number) => new Date(clock.now().getTime() - hours * HOUR)
    const pem = await issueLeaf(issuer, {
      subject: clientCertificate('a').subject,
      names: NO_NAMES,
      publicKey: keys.publicKey,
      usages: ['client auth'],
      validity: {notBefore: past(2), notAfter: past(1)},
    })
    const earlier = {
      csrs: {
        create: (csr: CertificateSigningRequest) => {
          sent.push(csr)
          const code = sent.length === 1 ? 'ALREADY_EXISTS' : 'SERVER_UNREACHABLE'
          return Promise.reject(new TrustError(code, 'no'))
        },
        get: () =>
          Promise.resolve({
            ...sent[0],
            metadata: {name: 'first', uid: 'its-uid'},
            status: {certificate: Buffer.from(pem + ca).toString('base64')},
          }),
      },
    } as unknown as ApiClient
    const nameFor = (...more: string[]) => ['first', ...more].join('.')
    await assert.rejects(
      requestCertificate(earlier, clientCertificate('a'), keys, {clock, nameFor}),
      {
        code: 'SERVER_UNREACHABLE',
      },
    )
    assert.deepEqual(
      sent.map(({metadata}) => metadata.name),
      ['first', 'first.its-uid'],
    )
  })

  it('is made anew after a failure, for another key', async () => {
    const now = clock.now().getTime()
    const current = {
      certificate: {notBefore: new Date(now - HOUR), notAfter: new Date(now + HOUR)},
    } as Pair
    const connection = {
      use: (work: (one: ApiClient) => Promise<unknown>) => work(client),
    } as NodeConnection
    const obtain = obtainClient({
      connection: () => connection,
      bootstrap: () => Promise.resolve(undefined),
      self: {dir: '/srv/node', nodeName: 'a'},
      clock,
    })
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await assert.rejects(obtain(clientCertificate('a'), current, signal), {
        code: 'SERVER_UNREACHABLE',
      })
    }
    const keys = sent.map(({spec}) => {
      const verdict = parseSpecRequest(spec.request)
      assert.ok('request' in verdict)
      return verdict.request.publicKeyDer.toString('hex')
    })
    assert.equal(keys.length, 2)
    assert.notEqual(keys[0], keys[1])
    assert.deepEqual(
      sent.map(({metadata}) => metadata),
      [{generateName: 'csr-'}, {generateName: 'csr-'}],
    )
  })
})
