import assert from 'node:assert/strict'
import {createServer} from 'node:net'
import {discover} from '../../src/discovery/discover.ts'
import {firstGood} from '../../src/discovery/side-by-side.ts'
import {TrustError} from '../../src/errors.ts'
import {sleep} from '../../src/runtime.ts'
import {until} from '../server/support.ts'
import {Cleanup, listen} from '../client/support/servers.ts'
import {ONCE, TOKEN, TOKEN_TEXT, answerData, signedData, startFakeCluster} from './support.ts'

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
