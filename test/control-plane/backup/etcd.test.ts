import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {cp, readdir, rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {backUp, describeBackup} from '../../../src/control-plane/backup/backup.ts'
import {restore} from '../../../src/control-plane/backup/restore.ts'
import {loadPlane} from '../../../src/control-plane/config/stored.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openPlaneEtcd, requireEtcd} from '../../../src/control-plane/plane-storage.ts'
import type {TrustError} from '../../../src/errors.ts'
import {readMark, servable, writeMark} from '../../../src/storage/etcd/migration-mark.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import type {Storage} from '../../../src/storage/storage.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {contentOf, MovingPlane} from './moving-plane.ts'

const bytes = (text: string) => Buffer.from(text)

describeWithEtcd('a restore to another kind of store', function () {
  this.timeout(60_000)
  let cluster: EtcdCluster
  let made: MovingPlane
  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())
  beforeEach(async () => {
    made = await MovingPlane.create(cluster.servers, `/test/${randomUUID()}`)
  })
  afterEach(() => made.remove())

  const openRaw = () => openEtcdStorage({servers: made.servers, prefix: made.prefix})
  const revisionOf = () => made.served((storage) => storage.revision())

  it('moves everything to etcd and back, and revisions only grow', async () => {
    const before = await made.served(contentOf)
    const first = await revisionOf()
    const there = await made.move('etcd')
    assert.deepEqual([there.keys, there.backupRevision, there.store], [40, first, 'etcd'])
    assert.deepEqual([there.unchanged, there.leftPrefix], [true, null])
    assert.ok((there.revision ?? 0) > first)
    assert.deepEqual((await made.plane()).settings.etcdServers, cluster.servers)
    assert.ok((await readdir(join(there.kept ?? '', 'store'))).includes('data.mdb'))
    const written = await made.served(async (storage) => {
      assert.deepEqual(await contentOf(storage), before)
      await assert.rejects(storage.list('/', {revision: first}), {code: 'STORE_COMPACTED'})
      return await storage.create('/registry/later', bytes('etcd'))
    })
    assert.ok(written.revision > (there.revision ?? 0))

    const back = await made.move('embedded')
    assert.deepEqual([back.keys, back.leftPrefix], [41, made.prefix])
    assert.ok((back.revision ?? 0) >= written.revision)
    assert.equal((await made.plane()).settings.etcdServers, undefined)
    await made.served(async (storage) => {
      assert.deepEqual(await contentOf(storage), {...before, '/registry/later': 'etcd'})
      assert.deepEqual(await storage.get('/registry/later'), {...written, value: written.value})
      const next = await storage.update('/registry/later', bytes('embedded'), written.revision)
      assert.ok(next.revision > (back.revision ?? 0))
    })

    const again = await made.move('etcd')
    assert.ok((again.revision ?? 0) > (back.revision ?? 0))
    assert.equal(again.keys, 41)
    const last = await made.served(contentOf)
    assert.equal(last['/registry/later'], 'embedded')
  })

  it('moves a whole control plane, with the files for etcd in their new places', async () => {
    const before = await made.served(contentOf)
    await made.save(false)
    const elsewhere = join(made.folder, 'elsewhere')
    const options = {clock: systemClock, force: false}
    const choices = {etcdServers: made.servers, etcdPrefix: made.prefix}
    await restore(made.file, elsewhere, {...options, to: 'etcd', choices})
    const storage =
      (await openPlaneEtcd(await loadPlane(elsewhere), () => undefined)) ?? assert.fail()
    assert.deepEqual(await contentOf(storage), before)
    await storage.close()
    assert.equal((await readdir(elsewhere)).includes('store'), true, 'with the lock alone')
    await assert.rejects(stat(join(elsewhere, 'store', 'data.mdb')), {code: 'ENOENT'})

    await backUp(elsewhere, made.file, {clock: systemClock})
    const {store, kind} = await describeBackup(made.file, undefined)
    assert.deepEqual([kind, store], ['everything', 'etcd'])
    // Its folder is lost, and etcd is not: it has newer objects than the backup.
    const newer = await openRaw()
    await newer.create('/registry/newer', bytes('1'))
    await newer.close()
    await rm(elsewhere, {recursive: true})
    await assert.rejects(restore(made.file, elsewhere, options), {
      code: 'CONFLICT',
      message: /etcd already has other keys/,
    })
    const {keys, revision} = await restore(made.file, elsewhere, {...options, only: 'files'})
    assert.deepEqual([keys, revision], [0, null])
    assert.deepEqual((await loadPlane(elsewhere)).settings.etcdServers, made.servers)
    // And the same objects again, beside those.
    const prefix = `${made.prefix}/two`
    const choice = {choices: {etcdPrefix: prefix}, only: 'objects', force: true} as const
    const second = await restore(made.file, elsewhere, {...options, ...choice})
    assert.deepEqual([second.store, second.leftPrefix], ['etcd', made.prefix])
    const {settings} = await loadPlane(elsewhere)
    assert.equal(settings.etcdPrefix, prefix)
    const raw = await openRaw()
    await assert.rejects(servable(raw, made.prefix), /have moved to another store/)
    await raw.close()
  })

  it('replaces objects that the backup does not have only with --force', async () => {
    await made.save()
    await made.served((storage) => storage.create('/registry/later', bytes('1')))
    await assert.rejects(made.restore('etcd'), {
      code: 'ALREADY_EXISTS',
      message: /has other objects/,
    })
    const there = await made.restore('etcd', {force: true})
    assert.deepEqual([there.keys, there.unchanged], [40, false])
    await made.save()
    await made.served((storage) => storage.create('/registry/later', bytes('1')))
    await assert.rejects(made.restore('embedded'), {code: 'ALREADY_EXISTS'})
    assert.equal((await made.served(contentOf))['/registry/later'], '1')
  })

  it('has no plaintext etcd in the network, and needs flags that fit', async () => {
    await made.save()
    const choices = {etcdServers: ['http://192.0.2.1:2379']}
    await assert.rejects(made.restore('etcd', {choices}), {
      code: 'CONFIG_INVALID',
      message: /is an etcd in the network, without TLS/,
    })
    const usage = {code: 'USAGE'}
    await assert.rejects(made.restore('etcd', {choices: {}}), usage)
    await assert.rejects(made.restore('embedded', {choices}), {
      ...usage,
      hints: ['leave out either'],
    })
    await assert.rejects(made.restore('etcd', {only: 'files'}), usage)
    assert.deepEqual((await readdir(made.dir)).includes('.restore'), false)
    assert.equal((await made.served(contentOf))['/registry/0'], 'value 0')
  })

  it('refuses keys in etcd that are not its own', async () => {
    const raw = await openRaw()
    await raw.create('/other', bytes('1'))
    await assert.rejects(made.move('etcd'), {
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
    await assert.rejects(made.move('etcd'), {
      code: 'CONFLICT',
      message: /not copied completely/,
    })
  })

  it('refuses a copy of its own that a server has changed since', async () => {
    const {kept} = await made.move('etcd')
    await made.served((storage) => storage.create('/registry/new', bytes('1')))
    for (const name of ['config.yaml', 'store']) {
      await rm(join(made.dir, name), {recursive: true})
      await cp(join(kept ?? '', name), join(made.dir, name), {
        recursive: true,
        filter: (from) => !from.includes('lock.'),
      })
    }
    await assert.rejects(made.restore('etcd'), {
      code: 'CONFLICT',
      message: /etcd already has other keys/,
    })
  })

  it('leaves no server on a store that is not complete, or that has moved', async () => {
    await made.move('etcd')
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
      await assert.rejects(made.move('embedded'), refusal)
      await assert.rejects(made.restore('embedded'), refusal)
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
    await made.move('etcd')
    const {revision} = await made.served((storage) => storage.create(key, lease(new Date())))
    await assert.rejects(made.move('embedded'), {
      code: 'CONFLICT',
      message: 'a server on other-machine uses these keys in etcd',
    })
    const died = new Date(Date.now() - 60_000)
    await made.served((storage) => storage.update(key, lease(died), revision))
    assert.equal((await made.move('embedded')).keys, 41)
  })

  it('takes back that everything has moved, if a server appeared at the last moment', async () => {
    await made.move('etcd')
    await made.served((storage) => storage.create(key, lease(new Date())))
    await made.save()
    // Before the mark the Lease is old, after it the same one is new.
    const times = [Date.now() + 60_000, Date.now()]
    const raw = await openRaw()
    const clock = {now: () => new Date(times.shift() ?? Date.now())}
    await assert.rejects(made.restore('embedded', {clock}), {
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
    assert.equal((await made.move('embedded', {clock: later})).keys, 42)
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
      await made.move('etcd')
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
        await made.move('embedded')
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

    it('cannot write into the store of another restore either', async () => {
      await made.move('embedded')
      await made.move('etcd')
      await assert.rejects(storage.create('/registry/late', bytes('late')), {code: 'STORE_CLOSED'})
    })

    it('goes on if the restore was given up', async () => {
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
})

describeWithEtcd('a restore of many keys, and three members', function () {
  this.timeout(120_000)
  let cluster: EtcdCluster
  let made: MovingPlane
  before(async () => {
    cluster = await startEtcd({members: 3})
    made = await MovingPlane.create(cluster.servers, '/many', 6000)
  })
  after(async () => {
    await made.remove()
    await cluster.stop()
  })

  it('moves all of them, also while one member is away', async () => {
    const before = await made.served(contentOf)
    await cluster.members[0]?.kill()
    const there = await made.move('etcd')
    assert.equal(there.keys, 6000)
    await cluster.members[0]?.start()
    await cluster.members[1]?.kill()
    assert.deepEqual(await made.served(contentOf), before)
    const back = await made.move('embedded')
    assert.equal(back.keys, 6000)
    assert.deepEqual(await made.served(contentOf), before)
  })
})
