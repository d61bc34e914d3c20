import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import type {SeenClientList, StoredClient} from '../../src/server/authn/seen-clients.ts'
import {startTestServer} from '../helpers/test-server.ts'
import {get1, get2, session2} from './http/support.ts'
import {Api} from './support.ts'

const PATH = '/trustadm/seen-clients'

describe('the client certificates that a server has seen', () => {
  let folder: string
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'seen-'))))
  afterEach(() => rm(folder, {recursive: true, force: true}))
  const start = () => startTestServer({seenClientsFile: join(folder, 'seen-clients.json')})

  it('are listed over a real socket, HTTP/1.1 and HTTP/2, with their CA, and are known after a restart', async () => {
    const server = await start()
    const admin = await server.credentialsFor('root', ['system:masters'])
    const ann = await server.credentialsFor('ann', ['people', 'others'])
    const agent = (name: string) => ({'user-agent': name})
    // She is refused, but she was here.
    const refused = await get1(server, PATH, {credentials: ann, headers: agent('kubectl/v1.20')})
    assert.equal(refused.status, 403)
    const session = await session2(server, ann)
    await get2(session, '/version', agent('kubectl/v1.36'))
    session.destroy()

    const {status, text} = await get1(server, PATH, {credentials: admin, headers: agent('curl/8')})
    assert.equal(status, 200)
    const {clients, dropped, since} = JSON.parse(text) as SeenClientList
    assert.equal(dropped, 0)
    assert.ok(clients.every(({firstSeen}) => since <= firstSeen))
    assert.deepEqual(
      new Map(clients.map(({user, userAgent}) => [user, userAgent])),
      new Map([
        ['root', 'curl/8'],
        ['ann', 'kubectl/v1.36'],
      ]),
    )
    const certificate = parseCertificate(ann.certificate)
    const {firstSeen, lastSeen, ...rest} = clients.find(({user}) => user === 'ann') ?? assert.fail()
    assert.ok(firstSeen <= lastSeen)
    const expected: Omit<StoredClient, 'firstSeen' | 'lastSeen'> = {
      fingerprint: certificate.fingerprint,
      issuerPin: pinOf(parseCertificate(server.ca)),
      user: 'ann',
      groups: ['people', 'others'],
      serial: certificate.serial,
      userAgent: 'kubectl/v1.36',
      address: '127.0.0.1',
      notAfter: certificate.notAfter.toISOString(),
    }
    assert.deepEqual(rest, expected)
    await server.stop()

    const again = await start()
    const known = (await new Api(again.handler).get(PATH)).body as unknown as SeenClientList
    const none = {dropped: 0, forgotten: [], clients: []}
    assert.deepEqual(known, {
      ...{clients, dropped, forgotten: [], since, tokens: none},
      deletedNodes: [],
    })
    await again.stop()
    assert.deepEqual([...server.errors, ...again.errors], [])
  })

  it('come with the Nodes that were deleted, and when, also after a restart', async () => {
    const server = await start()
    const api = new Api(server.handler)
    const nodes = '/api/v1/nodes'
    for (const name of ['w1', 'w2', 'w3']) await api.post(nodes, {metadata: {name}})
    const list = async () => (await api.get(PATH)).body as unknown as SeenClientList
    assert.deepEqual((await list()).deletedNodes, [])
    const before = new Date().toISOString()
    for (const name of ['w2', 'w1']) await api.delete(`${nodes}/${name}`)
    const {deletedNodes = []} = await list()
    assert.deepEqual(
      deletedNodes.map(({name}) => name),
      ['w2', 'w1'],
    )
    assert.ok(deletedNodes.every(({time}) => time >= before))
    await server.stop()

    const again = await start()
    const known = (await new Api(again.handler).get(PATH)).body as unknown as SeenClientList
    assert.deepEqual(known.deletedNodes, deletedNodes)
    await again.stop()
    assert.deepEqual([...server.errors, ...again.errors], [])
  })

  it('are shown to cluster-admin only, and to whom a role names the path', async () => {
    const server = await start()
    const admin = new Api(server.handler)
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    for (const group of ['system:monitoring', 'system:nodes', 'system:authenticated']) {
      assert.equal((await admin.as('ann', group).get(PATH)).status, 403, group)
    }
    assert.equal((await admin.anonymous().get(PATH)).status, 403)
    assert.equal((await admin.as('root', 'system:masters').get(PATH)).status, 200)
    await admin.post(`${rbac}/clusterroles`, {
      metadata: {name: 'seen'},
      rules: [{nonResourceURLs: [PATH], verbs: ['get']}],
    })
    await admin.post(`${rbac}/clusterrolebindings`, {
      metadata: {name: 'seen'},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'seen'},
      subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann'}],
    })
    assert.equal((await admin.as('ann').get(PATH)).status, 200)
    await server.stop()
  })

  it('have nobody of the same process, no token and no certificate that is refused', async () => {
    const server = await start()
    const other = await startTestServer({controllers: false})
    const stranger = await other.credentialsFor('mallory', ['system:masters'])
    assert.equal((await get1(server, '/version', {credentials: stranger})).status, 401)
    const headers = {authorization: 'Bearer abcdef.0123456789abcdef'}
    assert.equal((await get1(server, '/version', {headers})).status, 401)
    // The controllers of this server work all the time.
    const {body} = await new Api(server.handler).get(PATH)
    assert.deepEqual((body as unknown as SeenClientList).clients, [])
    await server.stop()
    await other.stop()
  })
})
