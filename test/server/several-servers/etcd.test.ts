import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import type {IncomingMessage} from 'node:http'
import {Agent, get} from 'node:https'
import {text as textOf} from 'node:stream/consumers'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {keyRevocation} from '../../../src/trust/revocations.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {startTestServer, type Credentials, type TestServer} from '../../helpers/test-server.ts'
import {condition, CSRS, csrObject, ed25519Request, encoded} from '../certificates/support.ts'
import {get1} from '../http/support.ts'
import {Api, until} from '../support.ts'
import {
  bootstrapToken,
  boundPod,
  letReaders,
  startMembers,
  SYSTEM,
  type Grant,
  type Member,
} from './support.ts'

const CONFIG_MAPS = '/api/v1/namespaces/kube-public/configmaps'

describeWithEtcd('two servers on one store', function () {
  this.timeout(60_000)
  let etcd: EtcdCluster
  let one: Member
  let two: Member

  before(async () => {
    etcd = await startEtcd()
    const open = () => openEtcdStorage({servers: etcd.servers, prefix: '/test'})
    const members = await startMembers(open)
    ;[one, two] = members as [Member, Member]
    await letReaders(one)
  })
  after(async () => {
    await one.server.stop()
    await two.server.stop()
    await etcd.stop()
  })

  const kinds: Record<string, (name: string) => Grant> = {
    'what a node may read for its pod': boundPod,
    'a bootstrap token': bootstrapToken,
  }
  for (const [what, make] of Object.entries(kinds)) {
    it(`agree about ${what} as soon as one of them has written it`, async () => {
      for (let round = 0; round < 20; round++) {
        const grant = make(`grant${round % 10}`)
        const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one]
        await grant.give(writer)
        assert.equal(await grant.use(reader), 200)
        await grant.withdraw(writer)
        assert.equal(await grant.use(reader), grant.refusal)
        if (make === boundPod) await clearAway(writer, `grant${round % 10}`)
      }
    })
  }

  /** What a pod leaves behind. */
  async function clearAway({api}: Member, name: string): Promise<void> {
    for (const plural of ['secrets', 'serviceaccounts'])
      await api.delete(`/api/v1/namespaces/default/${plural}/${name}`)
  }

  /** At the second server, over TLS: an open watch, and a connection that is used again. */
  async function connect({credentials, token}: {credentials?: Credentials; token?: string}) {
    const {port, ca} = two.server
    const headers = token === undefined ? {} : {authorization: `Bearer ${token}`}
    const tls = credentials && {cert: credentials.certificate, key: credentials.key}
    const path = `${CONFIG_MAPS}?watch=true`
    const asked = get({host: '127.0.0.1', port, ca, ...tls, path, headers, agent: false})
    const [watch] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(watch.statusCode, 200)
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const options = {headers, agent, ...(credentials && {credentials})}
    return {
      watched: textOf(watch),
      status: async () => (await get1(two.server, CONFIG_MAPS, options)).status,
      close: () => agent.destroy(),
    }
  }

  it('end the connections of a token that is deleted at the other one', async () => {
    const token = bootstrapToken('closed')
    await token.give(one)
    const open = await connect({token: token.text})
    try {
      assert.equal(await open.status(), 200)
      await token.withdraw(one)
      assert.equal(await open.status(), 401)
      assert.match(await open.watched, /"code":401/)
    } finally {
      open.close()
    }
  })

  it('refuse a certificate that is revoked at the other one, on open connections too', async () => {
    const credentials = await one.server.credentialsFor('jane', [])
    const open = await connect({credentials})
    try {
      assert.equal(await open.status(), 200)
      const id = keyRevocation(pinOf(parseCertificate(credentials.certificate)))
      const list = `${SYSTEM}/configmaps/trustadm-revoked-certificates`
      assert.equal((await one.api.patch(list, {data: {[id]: '{}'}})).status, 200)
      assert.equal(await open.status(), 401)
      assert.match(await open.watched, /"code":401/)
      await assert.rejects(connect({credentials}))
    } finally {
      open.close()
    }
  })

  it('give a node port to one of two services that are changed at the same time', async () => {
    const path = '/api/v1/namespaces/default/services'
    const ports = (nodePort: number) => [{port: 80, nodePort}]
    const create = (name: string, nodePort: number) =>
      one.api.post(path, {metadata: {name}, spec: {type: 'NodePort', ports: ports(nodePort)}})
    const move = ({api}: Member, name: string, nodePort: number) =>
      api.patch(`${path}/${name}`, {spec: {ports: ports(nodePort)}})
    for (const [index, name] of ['a', 'b'].entries())
      assert.equal((await create(name, 30_000 + index)).status, 201)
    for (let wanted = 30_010; wanted < 30_030; wanted++) {
      const moved = await Promise.all([move(one, 'a', wanted), move(two, 'b', wanted)])
      const statuses = moved.map(({status}) => status).sort()
      assert.equal(statuses[0], 200)
      // Found before the write, or after it.
      assert.ok([422, 503].includes(statuses[1] ?? 0), statuses.join())
      const {items} = (await two.api.get(path)).body
      const held = items.flatMap(({spec}) => (spec as {ports: {nodePort?: number}[]}).ports)
      assert.equal(held.filter(({nodePort}) => nodePort === wanted).length, 1)
    }
  })

  describe('with the requests of one requester', () => {
    /** How many may be pending. */
    const CAP = 500
    const request = encoded(ed25519Request())
    const ask = async ({api}: Member) =>
      (await api.as('system:bootstrap:abcdef').post(CSRS, csrObject({request}))).status
    const pending = async ({api}: Member) => {
      const {items} = (await api.get(CSRS)).body
      return items.filter(({status}) => (status as {conditions?: []}).conditions === undefined)
    }
    /** So many at the same time, half of them at each server; how many are accepted. */
    const askTogether = async (count: number) => {
      const asked = Array.from({length: count}, (_, index) => ask([one, two][index % 2]!))
      return (await Promise.all(asked)).filter((status) => status === 201).length
    }

    before(async () => {
      const RBAC = '/apis/rbac.authorization.k8s.io/v1'
      const apiGroup = 'rbac.authorization.k8s.io'
      await one.api.post(`${RBAC}/clusterrolebindings`, {
        metadata: {name: 'requesters'},
        roleRef: {apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper'},
        subjects: [{apiGroup, kind: 'User', name: 'system:bootstrap:abcdef'}],
      })
    })

    it('accept together no more than one of them may', async () => {
      let accepted = 0
      while (accepted < CAP - 20) accepted += await askTogether(20)
      assert.equal(accepted, CAP - 20)
      accepted += await askTogether(40)
      assert.ok(accepted <= CAP, String(accepted))
      assert.equal((await pending(one)).length, accepted)
      while (accepted < CAP) accepted += await askTogether(1)
      assert.deepEqual([await ask(one), await ask(two)], [429, 429])

      const [first] = await pending(two)
      const path = `${CSRS}/${first?.metadata.name ?? ''}/approval`
      const decided = {status: {conditions: [condition('Denied')]}}
      assert.equal((await one.api.patch(path, decided)).status, 200)
      assert.equal(await ask(two), 201)
      assert.equal(await ask(one), 429)
      assert.equal((await pending(two)).length, CAP)
    })
  })
})

describeWithEtcd('a server whose etcd falls silent', function () {
  this.timeout(60_000)
  const BOUND = 2000
  let etcd: EtcdCluster
  let server: TestServer
  let api: Api

  before(async () => {
    etcd = await startEtcd()
    const settings = {servers: etcd.servers, prefix: '/test'}
    const storage = await openEtcdStorage(settings, {patience: BOUND})
    server = await startTestServer({storage, controllers: false, memoryAge: {bound: BOUND}})
    api = new Api(server.handler)
  })
  after(async () => {
    await etcd.members[0]?.kill('SIGCONT')
    await server.stop()
    await etcd.stop()
  })

  it('answers every verb with 503, whatever it waits for, stays alive, and works again', async () => {
    const review = {spec: {nonResourceAttributes: {path: '/', verb: 'get'}}}
    const ask = () =>
      Promise.all([
        api.get(CONFIG_MAPS),
        api.post(CONFIG_MAPS, {metadata: {name: 'c'}}),
        api.put(`${CONFIG_MAPS}/c`, {metadata: {name: 'c'}}),
        api.patch(`${CONFIG_MAPS}/c`, {data: {}}),
        api.delete(`${CONFIG_MAPS}/c`),
        api.delete(CONFIG_MAPS),
        api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review),
      ])
    await etcd.members[0]?.kill('SIGSTOP')
    // It stops a little later.
    const state = `/proc/${etcd.members[0]?.process.pid}/status`
    await until(async () => /^State:\s+T/m.test(await readFile(state, 'utf8')))
    for (let round = 0; round < 2; round++)
      for (const {status, headers} of await ask())
        assert.deepEqual([status, headers['Retry-After']], [503, '1'])
    assert.equal((await api.get(`${CONFIG_MAPS}?resourceVersion=0`)).status, 503)
    assert.equal((await api.get('/livez')).status, 200)
    assert.match((await api.get('/readyz')).text, /\[-\]etcd failed.*\n\[-\]cache failed/)

    await etcd.members[0]?.kill('SIGCONT')
    await until(async () => (await api.get('/readyz')).status === 200)
    assert.equal((await api.post(CONFIG_MAPS, {metadata: {name: 'd'}})).status, 201)
  })
})
