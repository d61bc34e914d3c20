import assert from 'node:assert/strict'
import {discover} from '../../src/discovery/discover.ts'
import {isTemporary, withRetry} from '../../src/discovery/retry.ts'
import {
  discoveryContext,
  type DiscoverySettings,
  type Waiting,
} from '../../src/discovery/settings.ts'
import {TrustError, type ErrorCode} from '../../src/errors.ts'
import {sleep} from '../../src/runtime.ts'
import {Cleanup} from '../client/support/servers.ts'
import {fixedClock} from '../pki/support.ts'
import {TOKEN_TEXT, answerData, answerStatus, signedData, startFakeCluster} from './support.ts'

const failing = (code: ErrorCode, facts = {}) => new TrustError(code, `it is ${code}`, {facts})

/** Time passes only while somebody sleeps. */
function still(settings: DiscoverySettings = {}) {
  const clock = fixedClock()
  const waits: Waiting[] = []
  const slept: number[] = []
  return {
    waits,
    slept,
    around: discoveryContext({
      clock,
      onWait: (wait) => waits.push(wait),
      sleep: (milliseconds) => {
        slept.push(milliseconds)
        clock.advance(milliseconds)
        return Promise.resolve()
      },
      ...settings,
    }),
  }
}

describe('withRetry', () => {
  it('tries again what heals, and says once what it waits for', async () => {
    const {around, waits} = still()
    let left = 5
    const attempt = () =>
      left-- > 0 ? Promise.reject(failing('SIGNATURE_MISSING')) : Promise.resolve('good')
    assert.equal(await withRetry('https://a:1', attempt, around), 'good')
    assert.deepEqual(waits, [
      {server: 'https://a:1', code: 'SIGNATURE_MISSING', message: 'it is SIGNATURE_MISSING'},
    ])
  })

  it('says that there is no answer yet, before it gives up', async () => {
    const {around, waits} = still({timeout: 0})
    let giveUp: (error: Error) => void = () => undefined
    const said = new Promise<void>((resolve) => {
      around.onWait = (wait) => {
        waits.push(wait)
        resolve()
      }
    })
    const attempt = () => new Promise<string>((_resolve, reject) => (giveUp = reject))
    const asked = withRetry('https://a:1', attempt, around)
    await said
    giveUp(failing('TIMED_OUT'))
    await assert.rejects(asked, {code: 'TIMED_OUT'})
    assert.deepEqual(
      waits.map(({message}) => message),
      ['no response from https://a:1 yet'],
    )
  }).timeout(10_000)

  it('says it again when it waits for something else', async () => {
    const {around, waits} = still()
    const failures = [failing('SERVER_UNREACHABLE'), failing('CLUSTER_INFO_MISSING')]
    const attempt = () => {
      const next = failures.shift()
      return next ? Promise.reject(next) : Promise.resolve('good')
    }
    await withRetry('s', attempt, around)
    assert.deepEqual(
      waits.map(({code}) => code),
      ['SERVER_UNREACHABLE', 'CLUSTER_INFO_MISSING'],
    )
  })

  it('gives up after the time it has, with the failure itself', async () => {
    const {around, slept} = still({timeout: 60_000})
    const attempt = () => Promise.reject(failing('CLUSTER_INFO_MISSING'))
    await assert.rejects(withRetry('s', attempt, around), {code: 'CLUSTER_INFO_MISSING'})
    const total = slept.reduce((sum, each) => sum + each, 0)
    assert.ok(Math.abs(total - 60_000) < 1, `it slept for ${total} ms`)
    assert.ok(Math.max(...slept) <= 2000)
  })

  it('gives a busy server more time: among many machines each gets its turn', async () => {
    const {around, slept} = still()
    let left = 20
    const attempt = () =>
      left-- > 0 ? Promise.reject(failing('TOO_MANY_REQUESTS')) : Promise.resolve('good')
    assert.equal(await withRetry('s', attempt, around), 'good')
    assert.equal(slept.length, 20)
  })

  it('gives a busy server no more time than a user does', async () => {
    const {around, slept} = still({timeout: 3000})
    const attempt = () => Promise.reject(failing('TOO_MANY_REQUESTS'))
    await assert.rejects(withRetry('s', attempt, around), {code: 'TOO_MANY_REQUESTS'})
    const total = slept.reduce((sum, each) => sum + each, 0)
    assert.ok(Math.abs(total - 3000) < 1, `it slept for ${total} ms`)
  })

  it('tries once where it has no time', async () => {
    const {around, slept} = still({timeout: 0})
    const attempt = () => Promise.reject(failing('SERVER_UNREACHABLE'))
    await assert.rejects(withRetry('s', attempt, around), {code: 'SERVER_UNREACHABLE'})
    assert.deepEqual(slept, [])
  })

  it('says at once what no waiting heals', async () => {
    const {around, slept, waits} = still({timeout: 60_000})
    for (const error of [
      failing('SIGNATURE_WRONG'),
      failing('CLUSTER_INFO_FORBIDDEN', {status: 401}),
      new Error('a fault'),
    ]) {
      await assert.rejects(
        withRetry('s', () => Promise.reject(error), around),
        error,
      )
    }
    assert.deepEqual([slept, waits], [[], []])
  })

  it('ends with the reason of a signal', async () => {
    const stop = new AbortController()
    const around = discoveryContext({
      signal: stop.signal,
      timeout: 60_000,
      onWait: () => stop.abort(new Error('enough')),
    })
    const attempt = () => Promise.reject(failing('SERVER_UNREACHABLE'))
    await assert.rejects(withRetry('s', attempt, around), /enough/)
  })
})

describe('isTemporary', () => {
  it('does not wait for a name that is not known, nor for a proxy that refuses', () => {
    assert.equal(isTemporary(failing('SERVER_UNREACHABLE', {systemCode: 'ECONNREFUSED'})), true)
    assert.equal(isTemporary(failing('SERVER_UNREACHABLE', {systemCode: 'ENOTFOUND'})), false)
    assert.equal(isTemporary(failing('SERVER_UNREACHABLE', {proxyStatus: 407})), false)
    assert.equal(isTemporary(failing('SERVER_UNREACHABLE', {proxyStatus: 503})), true)
  })
})

describe('token discovery with patience', () => {
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('finds a signature that comes later', async () => {
    const cluster = cleanup.add(await startFakeCluster())
    const data = signedData({server: cluster.url, ca: cluster.ca})
    const {kubeconfig} = data
    cluster.answerWith((_request, response) =>
      answerData(response, cluster.requests.length < 3 ? {kubeconfig} : data),
    )
    const codes: string[] = []
    const {server} = await discover(
      {token: TOKEN_TEXT, endpoints: [cluster.endpoint], caCertHashes: [cluster.pin]},
      {environment: {}, onWait: ({code}) => codes.push(code)},
    )
    assert.equal(server, cluster.url)
    assert.deepEqual(codes, ['SIGNATURE_MISSING'])
  })

  it('waits for an init that is not complete: no server, no permission, no cluster-info', async () => {
    const cluster = cleanup.add(await startFakeCluster())
    const steps = [
      (response: Parameters<typeof answerStatus>[0]) => response.writeHead(502).end('no backend'),
      (response: Parameters<typeof answerStatus>[0]) => answerStatus(response, 403, 'Forbidden'),
      (response: Parameters<typeof answerStatus>[0]) => answerStatus(response, 404, 'NotFound'),
    ]
    const data = signedData({server: cluster.url, ca: cluster.ca})
    cluster.answerWith((_request, response) => {
      const step = steps.shift()
      if (step) step(response)
      else answerData(response, data)
    })
    const codes: string[] = []
    await discover(
      {token: TOKEN_TEXT, endpoints: [cluster.endpoint], caCertHashes: [cluster.pin]},
      {
        environment: {},
        sleep: (_, signal) => sleep(1, signal),
        onWait: ({code}) => codes.push(code),
      },
    )
    assert.deepEqual(codes, ['SERVER_ERROR', 'CLUSTER_INFO_FORBIDDEN', 'CLUSTER_INFO_MISSING'])
  })
})
