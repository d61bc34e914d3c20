import assert from 'node:assert/strict'
import {createServer} from 'node:net'
import {discover} from '../../src/discovery/discover.ts'
import {isTemporary, type Waiting, withRetry} from '../../src/client/patience.ts'
import {firstGood} from '../../src/discovery/attempts.ts'
import {discoveryContext, type DiscoverySettings} from '../../src/discovery/settings.ts'
import {type ErrorCode, TrustError} from '../../src/errors.ts'
import {sleep} from '../../src/runtime.ts'
import {Cleanup, listen} from '../client/support/servers.ts'
import {fixedClock} from '../pki/support.ts'
import {until} from '../server/support.ts'
import {
  answerData,
  answerStatus,
  ONCE,
  signedData,
  startFakeCluster,
  TOKEN,
  TOKEN_TEXT,
} from './support.ts'

describe('firstGood', () => {
  const unreachable = new TrustError('SERVER_UNREACHABLE', 'nothing listens')
  const distrusted = new TrustError('PIN_MISMATCH', 'another CA', {hints: ['look']})

  it('takes the first good answer and lets the others go', async () => {
    const ended: string[] = []
    const {server, value} = await firstGood(['slow', 'bad', 'good'], async (name, signal) => {
      if (name === 'bad') throw unreachable
      if (name === 'good') return 42
      return await sleep(60_000, signal).then(
        () => 0,
        (error: unknown) => {
          ended.push(name)
          throw error
        },
      )
    })
    await until(() => ended.length > 0)
    assert.deepEqual([server, value, ended], ['good', 42, ['slow']])
  })

  it('tells of the one that must not be trusted before those that are not there', async () => {
    const errors: Record<string, TrustError> = {a: unreachable, b: distrusted}
    await assert.rejects(
      firstGood(['a', 'b'], (name) => Promise.reject(errors[name] ?? unreachable)),
      (error: TrustError) => {
        assert.equal(error.code, 'PIN_MISMATCH')
        assert.deepEqual(error.suggestions, ['look', 'a: nothing listens'])
        assert.deepEqual(error.facts.servers, [
          {server: 'a', code: 'SERVER_UNREACHABLE'},
          {server: 'b', code: 'PIN_MISMATCH'},
        ])
        return true
      },
    )
  })

  it('names a server once', async () => {
    const server = 'https://one.example:6443'
    await assert.rejects(
      firstGood(['https://two.example:6443', server], (asked) =>
        Promise.reject(
          new TrustError('SERVER_UNREACHABLE', `${asked} cannot be reached`, {
            facts: {server: asked},
          }),
        ),
      ),
      {suggestions: [`${server} cannot be reached`]},
    )
  })

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController()
    const asked = firstGood(['a', 'b'], (_, signal) => sleep(60_000, signal), stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(asked, /enough/)
    await assert.rejects(
      firstGood(['a'], () => Promise.resolve(1), stop.signal),
      /enough/,
    )
  })
})

describe('token discovery with several endpoints', () => {
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('takes the first good one, keeps the others, and warns of one that pretends', async () => {
    const good = cleanup.add(await startFakeCluster())
    const thief = cleanup.add(await startFakeCluster())
    const pretended = signedData({server: thief.url, ca: thief.ca}, {...TOKEN, secret: 'guessed'})
    const silent = cleanup.add(await listen(createServer(), 'tcp'))
    const gone = await startFakeCluster()
    await gone.stop()
    const data = signedData({server: 'https://api.example:6443', ca: good.ca})
    // Only once the thief's answer has been read, and its connection closed.
    const thiefRead = new Promise<void>((resolve) => {
      thief.answerWith((request, response) => {
        request.socket.once('close', () => resolve())
        answerData(response, pretended)
      })
    })
    good.answerWith((_request, response) => void thiefRead.then(() => answerData(response, data)))
    const endpoints = [gone, thief, good].map(({endpoint}) => endpoint)
    endpoints.push(`127.0.0.1:${silent.port}`)
    const info = await discover({token: TOKEN_TEXT, endpoints, caCertHashes: [good.pin]}, ONCE)
    const [waiting] = silent.sockets
    assert.equal(waiting?.closed, false, 'it waited for the silent one')
    assert.equal(info.server, 'https://api.example:6443')
    assert.deepEqual(info.endpoints, [
      good.url,
      `https://${gone.endpoint}`,
      thief.url,
      `https://127.0.0.1:${silent.port}`,
    ])
    assert.deepEqual(
      info.warnings.map((warning) => warning.split(':').slice(0, 3).join(':')),
      [`${thief.url} was skipped`],
    )
  })
})

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

  it('waits as long as a busy server asks for, but not longer than the user does', async () => {
    const {around, slept} = still({timeout: 10_000})
    const attempt = () => Promise.reject(failing('TOO_MANY_REQUESTS', {retryAfter: 6000}))
    await assert.rejects(withRetry('s', attempt, around), {code: 'TOO_MANY_REQUESTS'})
    assert.deepEqual(slept, [6000, 4000])
  })

  it('has one deadline for all that a command retries', async () => {
    const {around, slept} = still({timeout: 10_000})
    const attempt = () => Promise.reject(failing('SERVER_UNREACHABLE', {retryAfter: 4000}))
    const once = () =>
      slept.length === 0 ? attempt() : Promise.resolve('there again after a moment')
    await withRetry('s', once, around)
    await assert.rejects(withRetry('s', attempt, around), {code: 'SERVER_UNREACHABLE'})
    assert.deepEqual(slept, [4000, 4000, 2000])
  })

  it('ends an attempt that hangs when its time is over, with what it has waited for', async () => {
    const around = discoveryContext({timeout: 300})
    let attempts = 0
    const attempt = (signal: AbortSignal) =>
      attempts++ === 0
        ? Promise.reject(failing('SERVER_ERROR'))
        : sleep(3_600_000, signal).then(() => 'late')
    await assert.rejects(withRetry('s', attempt, around), {code: 'SERVER_ERROR'})
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
