import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import type {RequestList} from '../../src/control-plane/requests/list.ts'
import {parsePrivateKey} from '../../src/pki/keys.ts'
import {describeEmbedded} from '../helpers/on-etcd.ts'
import {Plane} from '../helpers/plane.ts'
import {PROGRAM, trustadm} from '../helpers/program.ts'
import {begin, type Starting} from '../helpers/running.ts'
import {canInject} from '../helpers/strace.ts'
import {until} from '../server/support.ts'

/** Long enough for what a test does with it. */
const SHORT = ['--cluster-signing-duration', '25s']

describeEmbedded('a machine whose certificate has expired, with the built program', function () {
  this.timeout(180_000)
  let plane: Plane
  let folder: string
  const running: Starting[] = []
  before(async () => {
    plane = await Plane.start()
    folder = await mkdtemp(join(tmpdir(), 'trustadm-comes-back-'))
  })
  beforeEach(() => plane.restart(undefined, ...SHORT))
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop()
  })
  after(async () => {
    await plane.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const dirOf = (name: string) => join(folder, name)
  const runJoin = (name: string, ...more: string[]) => {
    const {endpoint, token, caCertHashes} = plane.cluster
    const pins = caCertHashes.flatMap((pin) => ['--discovery-token-ca-cert-hash', pin])
    const place = ['--dir', dirOf(name), '--node-name', name]
    return trustadm('join', new URL(endpoint).host, '--token', token, ...pins, ...place, ...more)
  }
  const joined = async (name: string) => {
    const {code, stderr} = await runJoin(name, '--timeout', '20s')
    assert.equal(code, 0, stderr)
  }
  const keyOf = async (name: string) =>
    parsePrivateKey(await readFile(join(dirOf(name), 'pki', 'kubelet-client-current.pem'), 'utf8'))
  const userOf = async (name: string) => {
    const client = await connect(join(dirOf(name), 'kubelet.conf'))
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }
  const operator = async <T>(...args: string[]): Promise<T> => {
    const flags = ['--kubeconfig', plane.cluster.kubeconfig, '--output', 'json']
    const {code, stdout, stderr} = await trustadm(...args, ...flags)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }
  const requests = async () => (await operator<RequestList>('certificate', 'list')).requests
  const expired = async (name: string) => {
    const status = await trustadm('node', 'status', '--dir', dirOf(name))
    return /state +expired/.test(status.stdout)
  }

  it('comes back with its old key after renewals that were issued and lost: on a full disk, or killed', async function () {
    if (!canInject()) {
      process.stderr.write('      skipped: strace is not installed, or may not trace\n')
      this.skip()
    }
    await joined('lost')
    const key = await keyOf('lost')
    const before = (await requests()).length
    // A link is only made for a new pair: it was issued by then.
    for (const fault of ['error=ENOSPC', 'error=ENOSPC', 'signal=SIGKILL']) {
      const tracing = ['-f', '-qqq', '-o', '/dev/null', '-e', 'trace=symlink,symlinkat']
      const inject = ['-e', `inject=symlink,symlinkat:${fault}`]
      const renew = [process.execPath, PROGRAM, 'node', 'renew', '--dir', dirOf('lost')]
      const {status, stderr} = spawnSync('strace', [...tracing, ...inject, ...renew])
      assert.notEqual(status, 0, stderr.toString())
      assert.ok((await keyOf('lost')).equals(key), fault)
    }
    assert.equal((await requests()).length, before + 3)
    await until(() => expired('lost'))
    await plane.restart()

    await joined('lost')
    assert.ok((await keyOf('lost')).equals(key))
    assert.equal(await userOf('lost'), 'system:node:lost')
    // From here on all is as before, and the old key is only one that was replaced.
    const renewed = await trustadm('node', 'renew', '--dir', dirOf('lost'))
    assert.equal(renewed.code, 0, renewed.stderr)
    assert.ok(!(await keyOf('lost')).equals(key))
  })

  it('says to run the join command again, and not to leave, wherever a person looks', async () => {
    await joined('late')
    await until(() => expired('late'))
    for (const command of [['run', '--once'], ['renew']]) {
      const {code, stderr} = await trustadm('node', ...command, '--dir', dirOf('late'))
      assert.equal(code, 4)
      assert.match(stderr, /the certificate of this node expired/)
      const advice = stderr.replace(/\s+/g, ' ')
      assert.match(advice, /token create --print-join-command.* it keeps the key/)
      assert.doesNotMatch(advice, /node leave/)
    }
    const {stdout} = await trustadm('node', 'status', '--dir', dirOf('late'))
    assert.match(stdout, /next step +join again with a new token: it keeps the key/)
    await plane.restart()
    await joined('late')
    assert.equal(await userOf('late'), 'system:node:late')
  })

  it('waits for one decision with a bootstrap credential, and needs nothing else', async () => {
    await joined('image')
    const key = await keyOf('image')
    await until(() => expired('image'))
    await plane.restart()
    const file = join(folder, 'bootstrap.conf')
    await operator('bootstrap-credential', 'create', '--kind', 'token', '--out', file)
    const run = () => {
      const one = begin(...['node', 'run', '--bootstrap-kubeconfig', file, '--dir'], dirOf('image'))
      running.push(one)
      return one
    }
    const named = async ({stderr}: Starting) => {
      let name: string | undefined
      await until(() => {
        ;[, name] = /run "trustadm certificate approve ([^"]+)"/.exec(stderr()) ?? []
        return name !== undefined
      })
      return name ?? assert.fail()
    }
    const first = run()
    const name = await named(first)
    assert.match(first.stderr(), /waiting for approval/)
    assert.doesNotMatch(first.stderr(), /allow-rejoin|node leave/)
    const status = await trustadm('node', 'status', '--dir', dirOf('image'))
    assert.match(
      status.stdout,
      new RegExp(`approval of ${name}: run "trustadm certificate approve"`),
    )
    const killed = once(first.process, 'exit')
    first.process.kill('SIGKILL')
    await killed

    const second = run()
    assert.equal(await named(second), name)
    await operator('certificate', 'approve', name, '--yes')
    // With the old key first, and at once with a new one.
    await until(async () => !(await keyOf('image')).equals(key))
    assert.equal(await userOf('image'), 'system:node:image')
    assert.equal(await second.stop(), 0)
  })
})
