import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {ObjectEvent} from '../../src/client/watch.ts'
import {waitForCertificate, type WaitOptions} from '../../src/enrollment/wait.ts'
import {TrustError, type ErrorCode} from '../../src/errors.ts'
import {addCondition, makeRequest, signRequest} from '../control-plane/requests/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

type Csr = CertificateSigningRequest
type Watch = () => AsyncIterable<ObjectEvent<Csr>>

const HOUR = 3_600_000
const PEM = 'the certificate'

function csr(status: Csr['status'] = {}, uid = 'u1'): Csr {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {name: 'node-csr-x', uid, resourceVersion: '1'},
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

const found = (state?: Csr) => () => Promise.resolve(state)
const failed = (code: ErrorCode) => () => Promise.reject(new TrustError(code, 'nothing listens'))

interface Server {
  /** One answer for each watch; the last one for all that follow. */
  watches: Watch[]
  list?: () => Promise<Csr | undefined>
  find?: () => Promise<Csr | undefined>
}

/** Records the versions that the client watches from. */
function serverOf({watches, list = failed('SERVER_UNREACHABLE'), find = list}: Server) {
  const watchedFrom: (string | undefined)[] = []
  const csrs = {
    watch: ({resourceVersion}: {resourceVersion?: string}) => {
      const answer = watches[watchedFrom.length] ?? watches.at(-1) ?? (() => events())
      watchedFrom.push(resourceVersion)
      return answer()
    },
    list: async () => {
      const state = await list()
      return {items: state ? [state] : [], metadata: {resourceVersion: '7'}}
    },
    find,
  } as unknown as ApiClient['csrs']
  return {csrs, watchedFrom}
}

const wait = async ({csrs}: Pick<ApiClient, 'csrs'>, options: WaitOptions = {timeout: 5000}) =>
  (await waitForCertificate({csrs}, csr(), options)).pem

describe('waiting for a certificate', () => {
  it('needs one watch for the approval and the certificate', async () => {
    const server = serverOf({watches: [() => events(approved, issued)]})
    assert.equal(await wait(server), PEM)
    assert.deepEqual(server.watchedFrom, ['1'])
  })

  it('needs no watch if the certificate is issued already', async () => {
    const server = serverOf({watches: []})
    assert.equal((await waitForCertificate(server, issued, {})).pem, PEM)
    assert.deepEqual(server.watchedFrom, [])
  })

  it('has the newest line of the issuance log, if the signer gave one', async () => {
    const given = `${'a'.repeat(64)}:120:${'b'.repeat(64)}:${'c'.repeat(32)}`
    const annotated = (head: string) => {
      const annotations = {'trustadm.io/issuance-head': head}
      return {...issued, metadata: {...issued.metadata, annotations}}
    }
    const {head} = await waitForCertificate(serverOf({watches: []}), annotated(given), {})
    assert.deepEqual(head, {
      chain: 'a'.repeat(64),
      size: 120,
      hash: 'b'.repeat(64),
      seal: 'c'.repeat(32),
    })
    const other = await waitForCertificate(serverOf({watches: []}), annotated('rubbish'), {})
    assert.equal(other.head, undefined)
  })

  it('waits for longer than a timer of Node.js can', async () => {
    const watches = [() => events(), () => events(issued)]
    const server = serverOf({watches, list: found(csr())})
    assert.equal(await wait(server, {timeout: 9999 * HOUR}), PEM)
  })

  it('ends as soon as it is told to', async () => {
    const stop = new AbortController()
    const server = serverOf({watches: [() => events()], list: found(csr())})
    const waiting = wait(server, {signal: stop.signal})
    stop.abort(new Error('stopped'))
    await assert.rejects(waiting, /stopped/)
  })

  it('does not ask in a tight loop if watches end at once', async () => {
    const server = serverOf({watches: [() => events()], list: found(csr())})
    await assert.rejects(wait(server, {timeout: 300}), {code: 'CERTIFICATE_PENDING'})
    const count = server.watchedFrom.length
    assert.ok(count < 20, `it has asked ${count} times`)
  })

  it('watches from the version of a list once a watch has ended', async () => {
    const watches = [failing('EXPIRED'), () => events(issued)]
    const server = serverOf({watches, list: found(csr())})
    assert.equal(await wait(server), PEM)
    assert.deepEqual(server.watchedFrom, ['1', '7'])
  })

  it('finds what happened while the connection was broken', async () => {
    const server = serverOf({watches: [failing('SERVER_UNREACHABLE')], list: found(issued)})
    const troubles: string[] = []
    const onTrouble = ({message}: TrustError) => void troubles.push(message)
    assert.equal(await wait(server, {timeout: 5000, onTrouble}), PEM)
    assert.deepEqual(troubles, [])
  })

  it('says once that the server is lost, and in the end that the state is unknown', async () => {
    const server = serverOf({watches: [failing('SERVER_UNREACHABLE')]})
    const troubles: string[] = []
    const onTrouble = ({message}: TrustError) => void troubles.push(message)
    await assert.rejects(wait(server, {timeout: 600, onTrouble}), {
      code: 'CERTIFICATE_PENDING',
      message: /"node-csr-x" is unknown: nothing listens$/,
    })
    assert.deepEqual(troubles, ['nothing listens'])
  })

  it('ends at once if the token is no longer valid', async () => {
    const server = serverOf({
      watches: [() => events(), failing('UNAUTHORIZED')],
      list: found(csr()),
    })
    await assert.rejects(wait(server, {timeout: 60_000}), {code: 'UNAUTHORIZED'})
  })

  it('gets the request now and then if the caller may neither watch nor list', async () => {
    const states = [csr(), approved, issued]
    const server = serverOf({
      watches: [failing('FORBIDDEN')],
      list: failed('FORBIDDEN'),
      find: () => Promise.resolve(states.shift()),
    })
    assert.equal(await wait(server), PEM)
  })

  it('ends if the caller may not even get the request', async () => {
    const server = serverOf({watches: [failing('FORBIDDEN')], list: failed('FORBIDDEN')})
    await assert.rejects(wait(server, {timeout: 60_000}), {code: 'FORBIDDEN'})
  })

  it('notices that the request was deleted while no watch was open', async () => {
    const server = serverOf({watches: [() => events()], list: found(undefined)})
    await assert.rejects(wait(server, {timeout: 60_000}), {
      code: 'CERTIFICATE_REQUEST_DELETED',
      message: /was deleted$/,
    })
  })

  it('does not take a later request of the same name for its own', async () => {
    const later = csr(issued.status, 'u2')
    for (const server of [
      serverOf({watches: [() => events(later)]}),
      serverOf({watches: [() => events()], list: found(later)}),
    ]) {
      await assert.rejects(wait(server), {code: 'CERTIFICATE_REQUEST_DELETED'})
    }
  })

  it('does not ask for an approval that is there', async () => {
    let release: () => void = () => undefined
    const signed = new Promise<void>((resolve) => (release = resolve))
    const server = serverOf({
      watches: [
        async function* () {
          yield {type: 'MODIFIED', object: approved}
          setTimeout(release, 0)
          await signed
          yield {type: 'MODIFIED', object: issued}
        },
      ],
    })
    let calls = 0
    await wait(server, {pendingAfter: 0, onPending: () => (calls += 1)})
    assert.equal(calls, 0)
  })

  it('adds the hints of the caller to those of the outcome', async () => {
    const denied = csr({conditions: [{type: 'Denied', status: 'True', reason: 'No'}]})
    const server = serverOf({watches: [() => events(denied)]})
    const error = await wait(server, {hints: {CERTIFICATE_DENIED: ['call the owner']}}).catch(
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof TrustError)
    assert.equal(error.code, 'CERTIFICATE_DENIED')
    assert.match(error.message, /was denied \(No\)$/)
    assert.equal(error.suggestions.at(-1), 'call the owner')
  })

  describe('of a server', () => {
    let server: TestServer
    let admin: ApiClient
    before(async () => {
      server = await startTestServer({controllers: false})
      admin = server.clientAs(ADMIN)
    })
    after(() => server.stop())
    afterEach(() => admin.csrs.deleteCollection({}))

    const sign = async () => {
      await addCondition(admin, 'a', 'Approved')
      await signRequest(admin, server.issuer, 'a')
    }

    it('ends when it is issued, and says once that somebody has to approve it', async () => {
      let told = 0
      const onPending = () => {
        told += 1
        void sign()
      }
      const request = await makeRequest(admin, {name: 'a'})
      const {pem} = await waitForCertificate(admin, request, {pendingAfter: 0, onPending})
      assert.match(pem, /BEGIN CERTIFICATE/)
      assert.equal(told, 1)
    })

    it('goes on after the server cut the watch', async () => {
      const request = await makeRequest(admin, {name: 'a'})
      let cuts = 0
      const csrs: ApiClient['csrs'] = Object.create(admin.csrs, {
        list: {value: (select: object) => admin.csrs.list(select)},
        watch: {
          value: () => {
            cuts += 1
            if (cuts === 2) void sign()
            throw new TrustError('SERVER_UNREACHABLE', 'cut', {facts: {systemCode: 'ECONNRESET'}})
          },
        },
      }) as ApiClient['csrs']
      assert.match((await waitForCertificate({csrs}, request, {})).pem, /BEGIN CERTIFICATE/)
      assert.ok(cuts >= 2)
    })

    it('says so if the request is deleted', async () => {
      const request = await makeRequest(admin, {name: 'a'})
      const onPending = () => void admin.csrs.delete({name: 'a'})
      await assert.rejects(waitForCertificate(admin, request, {pendingAfter: 0, onPending}), {
        code: 'CERTIFICATE_REQUEST_DELETED',
      })
    })

    it('says that nobody signs if it was approved and the time is over', async () => {
      const request = await makeRequest(admin, {name: 'a'})
      await addCondition(admin, 'a', 'Approved')
      await assert.rejects(waitForCertificate(admin, request, {timeout: 200}), {
        code: 'CERTIFICATE_PENDING',
        message: /is approved, but not signed yet/,
      })
    })
  })
})
