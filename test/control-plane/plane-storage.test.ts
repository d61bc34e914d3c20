import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Plane} from '../../src/control-plane/config/plane.ts'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import {complete, type Choices} from '../../src/control-plane/config/settings.ts'
import {findPlane, savePlane} from '../../src/control-plane/config/stored.ts'
import {identityOf, openPlaneEtcd, requireEtcd} from '../../src/control-plane/plane-storage.ts'
import {openEtcdStorage} from '../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../helpers/etcd.ts'

const ETCD = {etcdServers: ['https://192.0.2.1:2379'], etcdPrefix: '/one'}
const ignore = () => undefined

describe('the identity of a server among several', () => {
  const identity = (choices: Choices) =>
    identityOf({dir: '/srv', settings: complete('/srv', choices), generatedAuthorities: []})

  it('is its own on machines of one name and one folder', () => {
    const one = {nodeName: 'a', advertiseAddress: '192.0.2.1', bindPort: 6443}
    const others = [{nodeName: 'b'}, {advertiseAddress: '192.0.2.2'}, {bindPort: 6444}]
    const all = [one, ...others.map((other) => ({...one, ...other}))].map(identity)
    assert.equal(new Set(all).size, 4)
    assert.equal(identity(one), all[0])
  })
})

describe('the store of a machine that has joined a control plane', () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-joined-'))
  })
  afterEach(() => rm(dir, {recursive: true}))

  const joined = (choices: Choices = {}): Plane => ({
    dir,
    settings: complete(dir, {bindPort: 7000, ...choices}),
    generatedAuthorities: [],
    joinedControlPlane: true,
  })

  it('is remembered to be that of others', async () => {
    await savePlane(joined())
    assert.deepEqual(await findPlane(dir), joined())
  })

  it('is never a new one', async () => {
    const refusal = {code: 'CONFLICT', message: /another, empty cluster with the same CAs/}
    await assert.rejects(openPlaneEtcd(joined(), ignore), refusal)
    await assert.rejects(requireEtcd(joined()), refusal)
    const {joinedControlPlane: _, ...own} = joined()
    assert.equal(await openPlaneEtcd(own, ignore), undefined)
  })

  it('may be one that is there already', async () => {
    await mkdir(join(dir, 'store'))
    await writeFile(join(dir, 'store', 'data.mdb'), '')
    assert.equal(await openPlaneEtcd(joined(), ignore), undefined)
  })

  it('can be named once, after the join', async () => {
    await savePlane(joined())
    await writeFile(join(dir, 'admin.conf'), '')
    const named = await resolvePlane({dir, flags: ETCD})
    assert.deepEqual(named, joined(ETCD))
    await savePlane(named)
    await assert.rejects(resolvePlane({dir, flags: {...ETCD, etcdPrefix: '/two'}}), {
      code: 'CONFLICT',
    })
  })

  describeWithEtcd('of a machine that has joined a control plane', function () {
    this.timeout(30_000)
    let cluster: EtcdCluster
    before(async () => {
      cluster = await startEtcd()
    })
    after(() => cluster.stop())

    it('must have the objects of the others', async () => {
      const prefix = `/test/${randomUUID()}`
      const {servers} = cluster
      const plane = joined({etcdServers: servers, etcdPrefix: prefix})
      const refusal = {code: 'CONFLICT', message: /no keys of one below \/test\//}
      await assert.rejects(requireEtcd(plane), refusal)
      await assert.rejects(openPlaneEtcd(plane, ignore), refusal)
      const others = await openEtcdStorage({servers, prefix})
      await others.create('/a', Buffer.from('1'))
      await others.close()
      const storage = await openPlaneEtcd(plane, ignore)
      assert.notEqual(await storage?.get('/a'), undefined)
      await storage?.close()
    })
  })
})
