import assert from 'node:assert/strict'
import type {ApiObject} from '../../src/api/meta.ts'
import {wasCut} from '../../src/client/connection-errors.ts'
import {connectTo} from '../../src/client/connect.ts'
import {startInformer, type Informer, type InformerOptions} from '../../src/client/informer.ts'
import type {Change} from '../../src/client/informer-store.ts'
import {hasCode, type TrustError} from '../../src/errors.ts'
import {issue, makeAuthority, type TestAuthority, type TestPair} from './support/certificates.ts'
import {FakeApi, answer, describe as describeObject, status} from './support/fake-api.ts'
import {Cleanup, serveTls, type RunningServer} from './support/servers.ts'
import {eventually} from './support/wait.ts'

describe('startInformer', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  let pair: TestPair
  let api: FakeApi
  let server: RunningServer
  let stop: AbortController

  before(async () => {
    authority = await makeAuthority()
    pair = await issue(authority)
  })
  beforeEach(async () => {
    api = new FakeApi()
    stop = new AbortController()
    server = await serveTls(pair, api.listener)
    cleanup.add({stop: () => server.stop()})
  })
  afterEach(async () => {
    stop.abort()
    await cleanup.run()
  })

  function start(options: Partial<InformerOptions<ApiObject>> = {}): Informer<ApiObject> {
    const client = cleanup.add(
      connectTo(
        {server: server.url, ca: authority.pem},
        {retry: {attempts: 1}, timeout: 2000, environment: {}},
      ),
    )
    return startInformer<ApiObject>(client.configMaps, {
      signal: stop.signal,
      select: {namespace: 'ns'},
      backoff: {base: 2, max: 20},
      ...options,
    })
  }

  async function agrees(informer: Informer<ApiObject>): Promise<void> {
    const copy = () => informer.list().map(describeObject).sort()
    await eventually(
      () => copy().join() === api.snapshot().join(),
      () => `the copy is ${copy().join()}, the server has ${api.snapshot().join()}`,
    )
  }

  const lists = () => api.requests.filter((line) => !line.includes('watch=')).length

  it('is synced once the first list is in', async () => {
    api.put('a', '1')
    const informer = start()
    await informer.synced
    assert.deepEqual(informer.get('ns/a')?.data, {value: '1'})
    assert.equal(informer.size, 1)
  })

  it('follows what is added, changed and deleted', async () => {
    const seen: string[] = []
    const tell = ({key, previous, current}: Change<ApiObject>) =>
      seen.push(`${key} ${previous ? 'was' : 'new'} ${current ? 'is' : 'gone'}`)
    const informer = start({onChange: tell})
    await informer.synced
    api.put('a', '1')
    api.put('a', '2')
    api.remove('a')
    await eventually(() => seen.length === 3, 'not all was told')
    assert.deepEqual(seen, ['ns/a new is', 'ns/a was is', 'ns/a was gone'])
  })

  it('goes on from where it was after a cut, without listing again', async () => {
    const informer = start()
    await eventually(() => api.watchers === 1, 'no watch')
    api.put('a', '1')
    await agrees(informer)
    api.cutWatches()
    api.put('b', '1')
    await agrees(informer)
    assert.equal(lists(), 1)
  })

  it('survives a cut in the middle of an event', async () => {
    const informer = start()
    await eventually(() => api.watchers === 1, 'no watch')
    api.cutWatches(true)
    api.put('b', '1')
    await agrees(informer)
    assert.equal(lists(), 1)
  })

  it('opens the watch anew when the server ends it', async () => {
    const informer = start()
    await eventually(() => api.watchers === 1, 'no watch')
    api.endWatches()
    await eventually(() => api.watchers === 1, 'no second watch')
    api.put('b', '1')
    await agrees(informer)
  })

  it('lists again when its version is too old, and tells just the difference', async () => {
    api.put('same', '1')
    api.put('other', '1')
    api.put('gone', '1')
    const seen: string[] = []
    const informer = start({
      onChange: ({key, current}) => seen.push(`${key} ${String(Boolean(current))}`),
    })
    await eventually(() => api.watchers === 1, 'no watch')
    seen.length = 0
    api.cutWatches()
    api.put('other', '2')
    api.remove('gone')
    api.compact()
    await agrees(informer)
    assert.deepEqual(seen.sort(), ['ns/gone false', 'ns/other true'])
    assert.equal(lists(), 2)
  })

  it('finds the server again after a restart', async () => {
    const errors: unknown[] = []
    const informer = start({onError: (error) => errors.push(error)})
    await eventually(() => api.watchers === 1, 'no watch')
    await server.stop()
    api.put('a', 'while it was down')
    await eventually(() => errors.some((error) => hasCode(error, 'SERVER_UNREACHABLE')), 'no error')
    server = await serveTls(pair, api.listener, {port: server.port})
    await agrees(informer)
  })

  it('takes the state of a server that was set back to a backup', async () => {
    api.put('a', '1')
    const errors: unknown[] = []
    const informer = start({onError: (error) => errors.push(error)})
    await eventually(() => api.watchers === 1, 'no watch')
    for (let count = 0; count < 20; count += 1) api.put('b', String(count))
    await agrees(informer)
    await server.stop()
    const restored = new FakeApi()
    restored.put('a', 'from the backup')
    api = restored
    // After a mere cut it would go on watching where it was.
    await eventually(() => errors.some((error) => !wasCut(error)), 'no error')
    server = await serveTls(pair, restored.listener, {port: server.port})
    await agrees(informer)
  })

  it('tells of refusals and goes on when they end', async () => {
    const errors: unknown[] = []
    api.intercept = (_url, response) => {
      answer(response, 403, status(403, 'Forbidden', 'no'))
      return true
    }
    const informer = start({onError: (error) => errors.push(error)})
    await eventually(() => errors.length > 2, 'no error was told')
    assert.ok(errors.every((error) => hasCode(error, 'FORBIDDEN')))
    api.intercept = () => false
    api.put('a', '1')
    await informer.synced
    await agrees(informer)
  })

  it('never puts a stale object over a newer one', async () => {
    api.put('a', 'old')
    const stale = api.objects.get('a')
    api.put('a', 'new')
    const informer = start()
    await eventually(() => api.watchers === 1, 'no watch')
    api.sendToWatchers({type: 'MODIFIED', object: stale})
    api.put('b', 'after')
    await agrees(informer)
    assert.deepEqual(informer.get('ns/a')?.data, {value: 'new'})
  })

  it('goes on when a handler throws', async () => {
    const errors: unknown[] = []
    const informer = start({
      onChange: () => {
        throw new Error('handler')
      },
      onError: (error) => errors.push(error),
    })
    api.put('a', '1')
    await agrees(informer)
    await eventually(() => errors.length > 0, 'the failure was not told')
    assert.equal((errors[0] as Error).message, 'handler')
  })

  it('tells a late subscriber what is there, and nothing after it has left', async () => {
    api.put('a', '1')
    const informer = start()
    await informer.synced
    const keys: string[] = []
    const leave = informer.subscribe(({key}) => keys.push(key))
    assert.deepEqual(keys, ['ns/a'])
    leave()
    api.put('b', '1')
    await agrees(informer)
    assert.deepEqual(keys, ['ns/a'])
  })

  it('stops with its signal and leaves no watch behind', async () => {
    const informer = start()
    await eventually(() => api.watchers === 1, 'no watch')
    stop.abort()
    await informer.stopped
    await eventually(() => api.watchers === 0, 'the watch stayed open')
  })

  it('stops while it waits to try again', async () => {
    await server.stop()
    const reason = new Error('stop')
    const informer = start({
      backoff: {base: 60_000, max: 60_000},
      onError: () => setImmediate(() => stop.abort(reason)),
    })
    await informer.stopped
    await assert.rejects(informer.synced, reason)
  })

  it('does not hammer a server that ends every watch at once', async () => {
    api.intercept = (url, response) => {
      if (!url.searchParams.get('watch')) return false
      response.end()
      return true
    }
    const requestsIn = (namespace: string) =>
      api.requests.filter((line) => line.includes(`/namespaces/${namespace}/`)).length
    start({backoff: {base: 600_000, max: 600_000}})
    await eventually(() => requestsIn('ns') === 2, 'no watch')
    start({select: {namespace: 'other'}, backoff: {base: 1, max: 1}})
    await eventually(() => requestsIn('other') > 20, 'no further watches')
    assert.equal(requestsIn('ns'), 2)
  })

  it('ends with what the server has after a storm of cuts, compactions and restarts', async function () {
    this.timeout(30_000)
    const informer = start()
    await informer.synced
    let seed = 42
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    for (let step = 0; step < 400; step += 1) {
      const name = `object-${random(15)}`
      if (random(3) === 0) api.remove(name)
      else api.put(name, `grüße ${step}`)
      const event = random(40)
      if (event === 0) api.cutWatches(true)
      if (event === 1) api.endWatches()
      if (event === 2) api.compact()
      if (event === 3) for (const socket of server.sockets) socket.destroy()
      if (event === 4) {
        await server.stop()
        server = await serveTls(pair, api.listener, {port: server.port})
      }
      if (random(4) === 0) await new Promise((resolve) => setTimeout(resolve, random(8)))
    }
    await agrees(informer)
  })

  it('reports a distrusted server and stays unsynced', async () => {
    const other = await makeAuthority('other')
    const client = cleanup.add(connectTo({server: server.url, ca: other.pem}, {environment: {}}))
    const errors: TrustError[] = []
    startInformer<ApiObject>(client.configMaps, {
      signal: stop.signal,
      backoff: {base: 2, max: 20},
      onError: (error) => errors.push(error as TrustError),
    })
    await eventually(() => errors.length > 0, 'no error')
    assert.equal(errors[0]?.code, 'SERVER_NOT_TRUSTED')
    assert.deepEqual(api.requests, [])
  })
})
