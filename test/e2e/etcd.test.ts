import assert from 'node:assert/strict'
import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {cp, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, join} from 'node:path'
import {promisify} from 'node:util'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {StatusReport} from '../../src/control-plane/status.ts'
import {sleep} from '../../src/runtime.ts'
import {VERSION} from '../../src/version.ts'
import {PROGRAM} from '../helpers/cluster.ts'
import {describeWithEtcd, freePorts, startEtcd, type EtcdCluster} from '../helpers/etcd.ts'
import {Plane} from '../helpers/plane.ts'

const namespace = 'default'
const run = promisify(execFile)

describeWithEtcd('a control plane on etcd', function () {
  this.timeout(90_000)
  let etcd: EtcdCluster
  let plane: Plane
  let client: ApiClient

  before(async () => {
    etcd = await startEtcd({members: 3})
    plane = await Plane.start('--etcd-servers', etcd.servers.join(','), '--etcd-prefix', 'e2e/one')
    client = await connect(plane.cluster.kubeconfig)
  })
  after(async () => {
    await client.close()
    await plane.stop()
    await etcd.stop()
  })

  const create = (name: string, by = client) =>
    by.configMaps.create({metadata: {namespace, name}, data: {of: name}})

  it('is ready, with a check of its own for etcd', async () => {
    assert.match(await client.raw('/readyz?verbose'), /\[\+\]etcd ok/)
  })

  it('has everything after the server and all members were killed, and waits for etcd', async () => {
    const names = Array.from({length: 20}, (_, index) => `kept-${index}`)
    await Promise.all(names.map((name) => create(name)))
    let members: Promise<unknown> = Promise.resolve()
    await plane.restart(async () => {
      await Promise.all(etcd.members.map((member) => member.kill()))
      members = Promise.all(etcd.members.map((member) => member.start()))
    })
    await members
    for (const name of names)
      assert.equal((await client.configMaps.find({namespace, name}))?.data?.of, name)
  })

  it('is refused for another control plane with the same prefix', async () => {
    const flags = ['--etcd-servers', etcd.servers.join(','), '--etcd-prefix', '/e2e/one']
    await assert.rejects(Plane.start(...flags), {
      code: 6,
      stderr: /etcd already has keys of a control plane below/,
    })
  })

  it('serves writes and reads while one member is gone', async () => {
    const [member] = etcd.members
    await member?.kill()
    for (let index = 0; index < 5; index++) {
      await create(`gone-${index}`)
      assert.ok(await client.configMaps.find({namespace, name: `gone-${index}`}))
    }
    await member?.start()
  })

  describe('with a second server', () => {
    let folder: string
    let server: ChildProcess
    let second: ApiClient

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'trustadm-second-'))
      const dir = join(folder, 'cluster')
      const own = ['store', 'logs', 'server.json', 'lock']
      await cp(plane.cluster.dir, dir, {
        recursive: true,
        filter: (source) => !own.some((name) => basename(source).startsWith(name)),
      })
      const [port = 0] = await freePorts(1)
      const config = await readFile(join(dir, 'config.yaml'), 'utf8')
      await writeFile(
        join(dir, 'config.yaml'),
        config.replace(/bindPort: \d+/, `bindPort: ${port}`),
      )
      server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', dir], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      assert.ok(server.stdout)
      const [ready] = (await once(server.stdout, 'data')) as [Buffer]
      assert.match(ready.toString(), /^ready /)
      const kubeconfig = await readFile(plane.cluster.kubeconfig, 'utf8')
      const content = kubeconfig.replaceAll(plane.cluster.endpoint, `https://127.0.0.1:${port}`)
      second = await connect({content})
    })
    after(async () => {
      await second.close()
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
      await rm(folder, {recursive: true, force: true})
    })

    it('shows each what the other has acknowledged, at once', async () => {
      for (let index = 0; index < 20; index++) {
        const [writer, reader] = index % 2 === 0 ? [client, second] : [second, client]
        const name = `shared-${index}`
        await create(name, writer)
        assert.ok(await reader.configMaps.find({namespace, name}), name)
        await writer.configMaps.delete({namespace, name})
        assert.equal(await reader.configMaps.find({namespace, name}), undefined)
      }
    })

    it('is listed beside the first by status', async () => {
      const args = [PROGRAM, 'status', '--dir', plane.cluster.dir, '--output', 'json']
      const {stdout} = await run(process.execPath, args)
      const {servers} = JSON.parse(stdout) as StatusReport
      assert.deepEqual(
        servers.map(({version, alive}) => [version, alive]),
        [
          [VERSION, true],
          [VERSION, true],
        ],
      )
      assert.equal(new Set(servers.map(({name}) => name)).size, 2)
    })

    it('lets the other go on with the controllers when the first is killed', async () => {
      const lease = {namespace: 'trustadm-system', name: 'trustadm-serve'}
      const before = (await second.leases.find(lease))?.spec?.holderIdentity
      assert.ok(before)
      await plane.cluster.killServer()
      process.kill(plane.pid, 'SIGKILL')
      await second.namespaces.create({metadata: {name: 'later'}})
      const account = {namespace: 'later', name: 'default'}
      while (!(await second.serviceAccounts.find(account))) await sleep(100)
      const after = (await second.leases.find(lease))?.spec?.holderIdentity
      assert.notEqual(after, before)
    })
  })
})
