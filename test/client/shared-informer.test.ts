import assert from 'node:assert/strict'
import type {ApiObject} from '../../src/api/meta.ts'
import {connectTo} from '../../src/client/connect.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {Change} from '../../src/client/informer-store.ts'
import {shareInformer} from '../../src/client/shared-informer.ts'
import {issue, makeAuthority, type TestAuthority, type TestPair} from './support/certificates.ts'
import {FakeApi} from './support/fake-api.ts'
import {Cleanup, serveTls, type RunningServer} from './support/servers.ts'
import {eventually} from './support/wait.ts'

describe('shareInformer', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  let pair: TestPair
  let api: FakeApi
  let server: RunningServer
  let client: ApiClient
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
    client = cleanup.add(
      connectTo(
        {server: server.url, ca: authority.pem},
        {retry: {attempts: 1}, timeout: 2000, environment: {}},
      ),
    )
  })
  afterEach(async () => {
    stop.abort()
    await cleanup.run()
  })

  const select = {namespace: 'ns'}
  const share = (options: Partial<Parameters<typeof shareInformer<ApiObject>>[1]> = {}) =>
    shareInformer<ApiObject>(client.configMaps, {signal: stop.signal, select, ...options})
  const noting = (seen: string[]) => (change: Change<ApiObject>) =>
    seen.push(`${change.key} ${change.current ? 'is' : 'gone'}`)
  const watches = () => api.requests.filter((line) => line.includes('watch='))

  it('watches once for all who follow the same', async () => {
    const one: string[] = []
    const other: string[] = []
    const first = share({onChange: noting(one)})
    const second = share({onChange: noting(other)})
    await Promise.all([first.synced, second.synced])
    api.put('a', '1')
    await eventually(() => one.length === 1 && other.length === 1, 'not all were told')
    assert.equal(watches().length, 1)
    assert.deepEqual(second.list(), first.list())
  })

  it('watches again for another selection', async () => {
    await Promise.all([share().synced, share({select: {...select, labelSelector: 'a=b'}}).synced])
    await eventually(() => watches().length === 2, 'one watch is missing')
  })

  it('lists again for whoever comes later', async () => {
    const first = share()
    await first.synced
    await eventually(() => api.watchers === 1, 'it does not watch')
    api.intercept = (path, response) =>
      path.searchParams.has('watch') && Boolean(response.destroy())
    api.cutWatches()
    api.put('a', '1')
    const seen: string[] = []
    const late = share({onChange: noting(seen)})
    assert.deepEqual(seen, [], 'nothing is told before the caller has the informer')
    await late.synced
    assert.deepEqual(seen, ['ns/a is'])
    assert.equal(first.size, 0, 'the first one is cut off, and shows the state of before')
  })

  it('goes on for the others when one leaves, and stops with the last', async () => {
    const leaving = new AbortController()
    const gone: string[] = []
    const staying: string[] = []
    const first = share({signal: leaving.signal, onChange: noting(gone)})
    const second = share({onChange: noting(staying)})
    await Promise.all([first.synced, second.synced])
    leaving.abort()
    await first.stopped
    api.put('a', '1')
    await eventually(() => staying.length === 1, 'the other is no longer told')
    assert.deepEqual(gone, [])
    stop.abort()
    await second.stopped
    await eventually(() => api.watchers === 0, 'a watch is left')
  })

  it('starts again for those who come after the last has left', async () => {
    const leaving = new AbortController()
    const first = share({signal: leaving.signal})
    await first.synced
    leaving.abort()
    await first.stopped
    api.put('a', '1')
    const again = share()
    await again.synced
    assert.equal(again.size, 1)
  })

  it('fails to be synced for one who leaves before, not for others', async () => {
    const leaving = new AbortController()
    const first = share({signal: leaving.signal})
    const second = share()
    leaving.abort(new Error('left'))
    await assert.rejects(first.synced, /left/)
    await second.synced
  })

  it('tells a handler of its own failures only, and everybody of those of the server', async () => {
    const mine: unknown[] = []
    const theirs: unknown[] = []
    const broken = () => {
      throw new Error('broken')
    }
    const first = share({onChange: broken, onError: (error) => mine.push(error)})
    const second = share({onError: (error) => theirs.push(error)})
    await Promise.all([first.synced, second.synced])
    api.put('a', '1')
    await eventually(() => mine.length === 1, 'the failure was not told')
    assert.deepEqual(theirs, [])
    await server.stop()
    await eventually(() => mine.length > 1 && theirs.length > 0, 'the cut was not told to both')
  })
})
