import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connect} from '../../../src/client/connect.ts'
import {findClient} from '../../helpers/clients.ts'
import {describeWithOwnEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {trustadm} from '../../helpers/program.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'

const run = promisify(execFile)
const namespace = 'default'
const etcdctl = (...args: string[]) => run(findClient('etcdctl') ?? 'etcdctl', args)

describeWithOwnEtcd('the backup of an etcd, as the documentation restores it', function () {
  this.timeout(120_000)
  let folder = ''
  let etcd: EtcdCluster
  let several: SeveralServers | undefined
  let clients: ApiClient[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-etcd-restore-'))
    etcd = await startEtcd({members: 3})
    several = await startSeveral(2, ['--etcd-servers', etcd.servers.join(',')])
    const {machines, first} = several
    const {endpoint, kubeconfig} = first
    const content = await readFile(kubeconfig, 'utf8')
    clients = await Promise.all(
      machines.map(({port}) =>
        connect({content: content.replaceAll(endpoint, `https://127.0.0.1:${port}`)}),
      ),
    )
  })
  after(async () => {
    try {
      await Promise.all(clients.map((client) => client.close()))
      await several?.stop()
    } finally {
      await etcd.stop()
      await rm(folder, {recursive: true, force: true})
    }
  })

  const snapshot = () => join(folder, 'etcd.snapshot')
  const save = async () => {
    await rm(snapshot(), {force: true})
    await etcdctl('--endpoints', etcd.servers[0] ?? '', 'snapshot', 'save', snapshot())
  }
  const onEach = async (command: string) => {
    for (const {dir} of several?.machines ?? []) {
      const {code, stderr} = await trustadm(command, '--dir', dir)
      assert.equal(code, 0, stderr)
    }
  }

  /** With the name, addresses and folder that the member was started with. */
  async function restore(
    revisions = ['--bump-revision', '1000000000', '--mark-compacted'],
  ): Promise<void> {
    await Promise.all(etcd.members.map((member) => member.kill()))
    for (const {process: child} of etcd.members) {
      const words = child.spawnargs
      const flag = (name: string) => [name, words[words.indexOf(name) + 1] ?? '']
      const [, dataDir = ''] = flag('--data-dir')
      await rm(dataDir, {recursive: true})
      await etcdctl(
        ...['snapshot', 'restore', snapshot(), ...revisions],
        ...['--name', '--data-dir', '--initial-cluster', '--initial-advertise-peer-urls'].flatMap(
          flag,
        ),
      )
    }
    await Promise.all(etcd.members.map((member) => member.start()))
  }

  const create = async (name: string) => {
    const created = await clients[0]?.configMaps.create({metadata: {namespace, name}})
    return Number(created?.metadata.resourceVersion)
  }
  /** At each server: what is there, newer revisions than before, and no watch from before. */
  async function check(prefix: string, newest: number): Promise<void> {
    for (const [index, client] of clients.entries()) {
      const names = (await client.configMaps.list({namespace})).items.map(
        ({metadata}) => metadata.name ?? '',
      )
      assert.ok(names.includes(`${prefix}kept`), names.join())
      assert.equal(names.includes(`${prefix}newer`), false)
      const path = `/api/v1/configmaps?watch=true&timeoutSeconds=5&resourceVersion=${newest}`
      const answer = await client.raw(path).catch((error: unknown) => String(error))
      assert.match(answer, /too old resource version/)
      const name = `${prefix}after-${index}`
      const {metadata} = await client.configMaps.create({metadata: {namespace, name}})
      assert.ok(Number(metadata.resourceVersion) > newest + 500_000_000)
      for (const other of clients) assert.ok(await other.configMaps.find({namespace, name}))
    }
  }

  it('is served by all servers, without what was written since', async () => {
    await create('kept')
    await save()
    const newest = await create('newer')
    await onEach('stop')
    await restore()
    await onEach('start')
    await check('', newest)
  })

  it('is also served by servers that were not stopped', async () => {
    await create('running-kept')
    await save()
    const newest = await create('running-newer')
    await restore()
    await check('running-', newest)
  })
  it('is refused by servers that were not stopped if revisions went back, until they are restarted', async () => {
    await create('back-kept')
    await save()
    // More than the servers themselves write until they are asked.
    const newer = Array.from({length: 100}, (_, index) => create(`back-newer-${index}`))
    await Promise.all(newer)
    await restore([])
    for (const client of clients)
      await assert.rejects(client.configMaps.list({namespace}), {code: 'SERVER_ERROR'})
    for (const {dir} of several?.machines ?? [])
      assert.match(await readFile(join(dir, 'logs', 'server.log'), 'utf8'), /etcd has gone back/)
    await onEach('restart')
    for (const client of clients) {
      const {items} = await client.configMaps.list({namespace})
      const names = items.flatMap(({metadata}) => metadata.name ?? '')
      assert.deepEqual(
        names.filter((name) => name.startsWith('back-')),
        ['back-kept'],
      )
    }
  })
})
