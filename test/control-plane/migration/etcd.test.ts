import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {copyFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {openPlaneEtcd, requireEtcd} from '../../../src/control-plane/plane-storage.ts'
import type {TrustError} from '../../../src/errors.ts'
import {readMark, writeMark} from '../../../src/storage/etcd/migration-mark.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import type {Storage} from '../../../src/storage/storage.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {contentOf, MigratingPlane} from './support.ts'

const bytes = (text: string) => Buffer.from(text)

describeWithEtcd('store migrate', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster
  let made: MigratingPlane
  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())
  beforeEach(async () => {
    made = await MigratingPlane.create(cluster.servers, `/test/${randomUUID()}`)
  })
  afterEach(() => made.remove())

  const openRaw = () => openEtcdStorage({servers: made.servers, prefix: made.prefix})
  const revisionOf = () => made.served((storage) => storage.revision())

  it('moves everything to etcd and back, and revisions only grow', async () => {
    const before = await made.served(contentOf)
    const first = await revisionOf()
    const there = await made.migrate('embedded', 'etcd')
    assert.deepEqual([there.keys, there.sourceRevision], [40, first])
    assert.ok(there.revision > first)
    assert.deepEqual((await made.plane()).settings.etcdServers, cluster.servers)
    assert.deepEqual(await readdir(join(made.dir, 'backups')), [there.kept?.split('/').at(-1)])
    const written = await made.served(async (storage) => {
      assert.deepEqual(await contentOf(storage), before)
      await assert.rejects(storage.list('/', {revision: first}), {code: 'STORE_COMPACTED'})
      return await storage.create('/registry/later', bytes('etcd'))
    })
    assert.ok(written.revision > there.revision)

    const back = await made.migrate('etcd', 'embedded')
    assert.deepEqual([back.keys, back.kept], [41, null])
    assert.ok(back.revision >= written.revision)
    assert.equal((await made.plane()).settings.etcdServers, undefined)
    await made.served(async (storage) => {
      assert.deepEqual(await contentOf(storage), {...before, '/registry/later': 'etcd'})
      assert.deepEqual(await storage.get('/registry/later'), {...written, value: written.value})
      const next = await storage.update('/registry/later', bytes('embedded'), written.revision)
      assert.ok(next.revision > back.revision)
    })

    const again = await made.migrate('embedded', 'etcd')
    assert.ok(again.revision > back.revision)
    assert.equal(again.keys, 41)
    const last = await made.served(contentOf)
    assert.equal(last['/registry/later'], 'embedded')
  })

  it('refuses keys in etcd that are not its own', async () => {
    const raw = await openRaw()
    await raw.create('/other', bytes('1'))
    await assert.rejects(made.migrate('embedded', 'etcd'), {
      code: 'CONFLICT',
      message: /etcd already has other keys below \/test\//,
    })
    assert.deepEqual(await contentOf(raw), {'/other': '1'})
    assert.deepEqual(await readMark(raw), {revision: 0})
    await raw.close()
    assert.equal((await made.served(contentOf))['/registry/0'], 'value 0')
  })

  it('refuses a copy that another store has begun, also before its first key', async () => {
    const raw = await openRaw()
    await writeMark(raw, {state: 'copying', store: 'other', offset: 1}, {revision: 0})
    await raw.close()
    await assert.rejects(made.migrate('embedded', 'etcd'), {
      code: 'CONFLICT',
      message: /not copied completely/,
    })
  })

  it('refuses a copy of its own that a server has changed since', async () => {
    const source = await openLmdbStorage(made.dir)
    await assert.rejects(made.migrate('embedded', 'etcd'), {code: 'STORE_LOCKED'})
    await source.close()
    await made.migrate('embedded', 'etcd')
    await made.served((storage) => storage.create('/registry/new', bytes('1')))
    const [kept = ''] = await readdir(join(made.dir, 'backups'))
    await copyFile(join(made.dir, 'backups', kept), join(made.dir, 'store', 'data.mdb'))
    await assert.rejects(made.migrate('embedded', 'etcd'), {
      code: 'CONFLICT',
      message: /"\/registry\/new" is only in the copy/,
    })
  })

  it('leaves no server on a store that is not complete, or that has moved', async () => {
    await made.migrate('embedded', 'etcd')
    const plane = await made.plane()
    const raw = await openRaw()
    for (const [state, message] of [
      ['copying', /not copied completely/],
      ['moved', /have moved to another store/],
    ] as const) {
      const {mark, revision} = await readMark(raw)
      assert.ok(mark)
      await writeMark(raw, {...mark, state}, {revision})
      const refusal = {code: 'CONFLICT', message}
      await assert.rejects(made.served(contentOf), refusal)
      await assert.rejects(requireEtcd(plane), refusal)
      await assert.rejects(made.migrate('etcd', 'embedded'), refusal)
    }
    await raw.close()
  })

  const key = '/registry/coordination.k8s.io/leases/kube-system/apiserver-a'
  const lease = (renewTime: Date) =>
    bytes(
      JSON.stringify({
        metadata: {
          name: 'apiserver-a',
          labels: {
            'apiserver.kubernetes.io/identity': 'kube-apiserver',
            'kubernetes.io/hostname': 'other-machine',
          },
        },
        spec: {renewTime: renewTime.toISOString()},
      }),
    )

  it('waits for nobody: a server that is alive is an error, one that has died is not', async () => {
    await made.migrate('embedded', 'etcd')
    const {revision} = await made.served((storage) => storage.create(key, lease(new Date())))
    await assert.rejects(made.migrate('etcd', 'embedded'), {
      code: 'CONFLICT',
      message: 'a server on other-machine uses these keys in etcd',
    })
    const died = new Date(Date.now() - 60_000)
    await made.served((storage) => storage.update(key, lease(died), revision))
    assert.equal((await made.migrate('etcd', 'embedded')).keys, 41)
  })

  it('takes back that everything has moved, if a server appeared at the last moment', async () => {
    await made.migrate('embedded', 'etcd')
    await made.served((storage) => storage.create(key, lease(new Date())))
    // Before the mark the Lease is old, after it the same one is new.
    const times = [Date.now() + 60_000, Date.now()]
    const raw = await openRaw()
    const clock = {now: () => new Date(times.shift() ?? Date.now())}
    await assert.rejects(made.migrate('etcd', 'embedded', clock), {
      code: 'CONFLICT',
      message: 'a server on other-machine uses these keys in etcd',
    })
    assert.equal(times.length, 0, 'it looked twice')
    const {mark} = await readMark(raw)
    await raw.close()
    assert.equal(mark?.state, 'serving')
    // That server goes on, and the next attempt starts over.
    const {etcdServers} = (await made.plane()).settings
    assert.deepEqual(etcdServers, cluster.servers)
    await made.served((storage) => storage.create('/registry/later', bytes('1')))
    const later = {now: () => new Date(Date.now() + 60_000)}
    assert.equal((await made.migrate('etcd', 'embedded', later)).keys, 42)
  })

  describe('a server elsewhere that stood still while everything moved', () => {
    const key = '/registry/0'
    let storage: Storage
    let lost: unknown[]

    /** As a server on another machine has opened it. */
    const openElsewhere = async () => {
      lost = []
      const plane = {...(await made.plane()), dir: join(made.folder, 'elsewhere')}
      const opened = await openPlaneEtcd(
        plane,
        () => undefined,
        (reason) => lost.push(reason),
      )
      storage = opened ?? assert.fail()
    }
    beforeEach(async () => {
      await made.migrate('embedded', 'etcd')
      await openElsewhere()
    })
    afterEach(() => storage.close())

    const attempts: Record<string, (revision: number) => Promise<unknown>> = {
      'create an object': () => storage.create('/registry/late', bytes('late')),
      'update an object': (revision) => storage.update(key, bytes('late'), revision),
      'delete an object': (revision) => storage.delete(key, revision),
      'say how far the store is': () => storage.revision(),
      'say that it accepts writes': () => storage.check(),
    }
    for (const [what, attempt] of Object.entries(attempts)) {
      it(`cannot ${what}, and learns why`, async () => {
        const {revision = 0} = (await storage.get(key)) ?? {}
        await made.migrate('etcd', 'embedded')
        const raw = await openRaw()
        const before = await raw.list('/')
        const refusal = {code: 'STORE_CLOSED', message: /^the store is closed: .+ have moved/}
        await assert.rejects(attempt(revision), refusal)
        await assert.rejects(storage.get(key), refusal)
        assert.deepEqual(
          lost.map((reason) => (reason as TrustError).code),
          ['CONFLICT'],
        )
        const {entries} = await raw.list('/')
        assert.deepEqual(entries, before.entries)
        await raw.close()
      })
    }

    it('cannot write into the store of another migration either', async () => {
      await made.migrate('etcd', 'embedded')
      await made.migrate('embedded', 'etcd')
      await assert.rejects(storage.create('/registry/late', bytes('late')), {code: 'STORE_CLOSED'})
    })

    it('goes on if the migration was given up', async () => {
      const raw = await openRaw()
      const {mark, revision} = await readMark(raw)
      assert.ok(mark)
      const {revision: next} = await writeMark(raw, {...mark, state: 'moved'}, {revision})
      await writeMark(raw, mark, {revision: next})
      await Promise.all(
        ['a', 'b', 'c'].map((name) => storage.create(`/registry/${name}`, bytes('1'))),
      )
      await storage.revision()
      assert.deepEqual(lost, [])
      await raw.close()
    })
  })

  it('copies nothing more once its mark was taken away', async () => {
    const one = await openRaw()
    const other = await openRaw()
    const {revision} = await writeMark(
      one,
      {state: 'copying', store: 'one', offset: 1},
      {revision: 0},
    )
    await one.create('/registry/first', bytes('1'))
    await writeMark(other, {state: 'copying', store: 'other', offset: 1}, {revision})
    await assert.rejects(one.create('/registry/second', bytes('1')), {
      code: 'STORE_CLOSED',
      message: 'the store is closed: another restore uses the same keys in etcd',
    })
    assert.deepEqual(await contentOf(other), {'/registry/first': '1'})
    await Promise.all([one.close(), other.close()])
  })

  it('says that there is nothing to do', async () => {
    await assert.rejects(made.migrate('etcd', 'embedded'), {
      code: 'CONFLICT',
      message: 'this control plane has the embedded store already',
    })
    await made.migrate('embedded', 'etcd')
    await assert.rejects(made.migrate('embedded', 'etcd'), {
      code: 'CONFLICT',
      message: 'this control plane has its objects in etcd already',
    })
    await assert.rejects(made.migrate('etcd', 'etcd'), {code: 'USAGE'})
  })
})

describeWithEtcd('store migrate with many keys and three members', function () {
  this.timeout(120_000)
  let cluster: EtcdCluster
  let made: MigratingPlane
  before(async () => {
    cluster = await startEtcd({members: 3})
    made = await MigratingPlane.create(cluster.servers, '/many', 6000)
  })
  after(async () => {
    await made.remove()
    await cluster.stop()
  })

  it('moves all of them, also while one member is away', async () => {
    const before = await made.served(contentOf)
    await cluster.members[0]?.kill()
    const there = await made.migrate('embedded', 'etcd')
    assert.equal(there.keys, 6000)
    await cluster.members[0]?.start()
    await cluster.members[1]?.kill()
    assert.deepEqual(await made.served(contentOf), before)
    const back = await made.migrate('etcd', 'embedded')
    assert.deepEqual([back.keys, back.sha256], [6000, there.sha256])
    assert.deepEqual(await made.served(contentOf), before)
  })
})
