import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {ObjectEvent} from '../../src/client/watch.ts'
import {TrustError, type ErrorCode} from '../../src/errors.ts'
import {awaitCertificate} from '../../src/node/await-certificate.ts'

type Csr = CertificateSigningRequest
type Watch = () => AsyncIterable<ObjectEvent<Csr>>

const HOUR = 3_600_000
const PEM = 'the certificate'

function csr(status: Csr['status'] = {}): Csr {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {name: 'node-csr-x', resourceVersion: '1'},
    spec: {request: '', signerName: 'kubernetes.io/kube-apiserver-client-kubelet'},
    status,
  }
}

const approved = csr({conditions: [{type: 'Approved', status: 'True'}]})
const issued = csr({...approved.status, certificate: Buffer.from(PEM).toString('base64')})

async function* events(...states: Csr[]): AsyncGenerator<ObjectEvent<Csr>> {
  for (const object of await Promise.resolve(states)) yield {type: 'MODIFIED', object}
}

const failing = (code: ErrorCode): Watch =>
  async function* () {
    yield await Promise.reject<ObjectEvent<Csr>>(new TrustError(code, 'gone'))
  }

/** A server that answers each watch, and each read, as it is told; the last answer is given for ever. */
function server(watches: Watch[], find: () => Promise<Csr | undefined>) {
  let count = 0
  const csrs = {
    watch: () => (watches[count++] ?? watches.at(-1) ?? (() => events()))(),
    find,
  } as unknown as ApiClient['csrs']
  return {csrs, watchCount: () => count}
}

const unreachable = () => Promise.reject(new TrustError('SERVER_UNREACHABLE', 'nothing listens'))

describe('awaitCertificate', () => {
  it('hears of the approval and of the certificate by one watch', async () => {
    const {csrs, watchCount} = server([() => events(approved, issued)], unreachable)
    assert.equal(await awaitCertificate({csrs}, csr(), {timeout: 5000}), PEM)
    assert.equal(watchCount(), 1)
  })

  it('waits for longer than a timer of Node.js can', async () => {
    const {csrs} = server([() => events(), () => events(issued)], () => Promise.resolve(csr()))
    assert.equal(await awaitCertificate({csrs}, csr(), {timeout: 9999 * HOUR}), PEM)
  })

  it('does not ask in a tight circle where watches end at once', async () => {
    const {csrs, watchCount} = server([() => events()], () => Promise.resolve(csr()))
    const waiting = awaitCertificate({csrs}, csr(), {timeout: 300})
    await assert.rejects(waiting, {code: 'CERTIFICATE_PENDING'})
    assert.ok(watchCount() < 20, `it has asked ${watchCount()} times`)
  })

  it('finds what happened while the connection was broken', async () => {
    const {csrs} = server([failing('SERVER_UNREACHABLE')], () => Promise.resolve(issued))
    const troubles: string[] = []
    const onTrouble = ({message}: TrustError) => void troubles.push(message)
    assert.equal(await awaitCertificate({csrs}, csr(), {timeout: 5000, onTrouble}), PEM)
    assert.deepEqual(troubles, [])
  })

  it('says once that the server is lost, and in the end that nothing is known of the request', async () => {
    const {csrs} = server([failing('SERVER_UNREACHABLE')], unreachable)
    const troubles: string[] = []
    const onTrouble = ({message}: TrustError) => void troubles.push(message)
    await assert.rejects(awaitCertificate({csrs}, csr(), {timeout: 600, onTrouble}), {
      code: 'CERTIFICATE_PENDING',
      message: /"node-csr-x" is not known: nothing listens$/,
    })
    assert.deepEqual(troubles, ['nothing listens'])
  })

  it('ends at once where the token counts no more', async () => {
    const {csrs} = server([() => events(), failing('UNAUTHORIZED')], () => Promise.resolve(csr()))
    const waiting = awaitCertificate({csrs}, csr(), {timeout: 60_000})
    await assert.rejects(waiting, {code: 'UNAUTHORIZED'})
  })

  it('tells that the request was deleted while nobody listened', async () => {
    const {csrs} = server([() => events()], () => Promise.resolve(undefined))
    const waiting = awaitCertificate({csrs}, csr(), {timeout: 60_000})
    await assert.rejects(waiting, {code: 'CERTIFICATE_FAILED', message: /was deleted$/})
  })
})
