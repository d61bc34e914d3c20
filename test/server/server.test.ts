import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {ADMIN, startTestServer} from '../helpers/test-server.ts'
import {get1, get2, session2} from './http/support.ts'
import {Api, until} from './support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

describe('a whole server', () => {
  it('ends the watches of its own process when it closes', async () => {
    const server = await startTestServer({controllers: false})
    const {body} = await server.handler({
      method: 'GET',
      path: PATH,
      query: new URLSearchParams({watch: 'true'}),
      headers: {},
      rawHeaders: [],
      body: new Uint8Array(),
      remoteAddress: '',
      signal: new AbortController().signal,
      caller: ADMIN,
    })
    const ended = (async () => {
      for await (const _chunk of body as AsyncIterable<string>);
    })()
    await server.stop()
    await ended
  })

  it('lets a right be used from the write that gives it, and no longer than to the one that takes it', async () => {
    const server = await startTestServer({controllers: false})
    const admin = new Api(server.handler)
    const ann = admin.as('ann')
    const rule = {apiGroups: [''], resources: ['configmaps'], verbs: ['list']}
    await admin.post(`${RBAC}/namespaces/default/roles`, {metadata: {name: 'r'}, rules: [rule]})
    for (let round = 0; round < 20; round++) {
      assert.equal((await ann.get(PATH)).status, 403)
      await admin.post(`${RBAC}/namespaces/default/rolebindings`, {
        metadata: {name: 'b'},
        roleRef: {kind: 'Role', name: 'r'},
        subjects: [{kind: 'User', name: 'ann'}],
      })
      assert.equal((await ann.get(PATH)).status, 200)
      if (round % 2 === 0) await admin.delete(`${RBAC}/namespaces/default/rolebindings/b`)
      else {
        await admin.patch(`${RBAC}/namespaces/default/roles/r`, {rules: []})
        assert.equal((await ann.get(PATH)).status, 403)
        await admin.delete(`${RBAC}/namespaces/default/rolebindings/b`)
        await admin.patch(`${RBAC}/namespaces/default/roles/r`, {rules: [rule]})
      }
    }
    await server.stop()
  })

  it('lists its paths to those who may see them', async () => {
    const server = await startTestServer({controllers: false})
    const admin = new Api(server.handler)
    const {paths} = (await admin.get('/')).body as unknown as {paths: string[]}
    for (const path of paths) assert.equal((await admin.get(path)).status, 200, path)
    assert.ok(paths.includes('/apis/rbac.authorization.k8s.io/v1'))
    assert.equal((await admin.as('ann').get('/')).status, 403)
    await server.stop()
  })

  it('has rights again after a restart', async () => {
    const storage = openMemoryStorage()
    const close = storage.close.bind(storage)
    storage.close = () => Promise.resolve()
    const first = await startTestServer({storage, controllers: false})
    await new Api(first.handler).post(`${RBAC}/clusterrolebindings`, {
      metadata: {name: 'b'},
      roleRef: {kind: 'ClusterRole', name: 'cluster-admin'},
      subjects: [{kind: 'User', name: 'ann'}],
    })
    await first.stop()
    const second = await startTestServer({storage, controllers: false})
    assert.equal((await new Api(second.handler).as('ann').get(PATH)).status, 200)
    await second.stop()
    await close()
  })

  it('that closes has stored what it has acknowledged, and ends its watches with an end', async () => {
    const storage = openMemoryStorage()
    const server = await startTestServer({storage, controllers: false})
    const credentials = await server.credentialsFor('admin', ['system:masters'])
    const session = await session2(server, credentials)
    const watch = get2(session, `${PATH}?watch=true&resourceVersion=${await storage.revision()}`)
    const acknowledged: string[] = []
    const writing = Array.from({length: 4}, async (_, writer) => {
      for (let index = 0; ; index++) {
        const name = `w${writer}-${index}`
        const headers = {'Content-Type': 'application/json'}
        const body = JSON.stringify({metadata: {name}})
        try {
          const {status} = await get1(server, PATH, {method: 'POST', headers, body, credentials})
          if (status === 201) acknowledged.push(name)
        } catch {
          return
        }
      }
    })
    await until(() => acknowledged.length > 20)
    await server.close(2000)
    await Promise.all(writing)
    const {entries} = await storage.list('/registry/core/configmaps/default/')
    const stored = new Set(entries.map(({key}) => key.split('/').at(-1)))
    assert.deepEqual(
      acknowledged.filter((name) => !stored.has(name)),
      [],
    )
    const {status, text} = await watch
    assert.equal(status, 200)
    for (const line of text.trimEnd().split('\n')) assert.equal(JSON.parse(line).type, 'ADDED')
    await storage.close()
  })

  it('shows in /readyz that it is about to close', async () => {
    const server = await startTestServer({controllers: false})
    const api = new Api(server.handler)
    assert.equal((await api.get('/readyz')).status, 200)
    await server.close(0)
    assert.equal((await api.get('/readyz')).status, 500)
    assert.equal((await api.get('/livez')).status, 200)
    await server.stop()
  })
})
