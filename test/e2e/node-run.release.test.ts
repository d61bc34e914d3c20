import assert from 'node:assert/strict'
import {execFile, spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, readFile, readlink, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {connect} from '../../src/client/connect.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import type {NodeStatus} from '../../src/node/agent/node-status.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {parsePrivateKey} from '../../src/pki/keys.ts'
import {sleep} from '../../src/runtime.ts'
import {makeAuthority} from '../client/support/certificates.ts'
import {Plane} from '../helpers/plane.ts'
import {PROGRAM, trustadm} from '../helpers/program.ts'

const run = promisify(execFile)
const BUSY = fileURLToPath(new URL('busy-node.ts', import.meta.url))
/** Such short certificates, backdated by five minutes, are due as soon as they are issued. */
const SHORT = ['--cluster-signing-duration', '30s']

const succeeds = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, {stdio: 'ignore'}).status === 0

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await holds()) return
    await sleep(100)
  }
  assert.fail(`it did not happen: ${what}`)
}

describe('node run', function () {
  this.timeout(180_000)
  let plane: Plane
  let folder: string
  const running: ChildProcess[] = []
  before(async () => {
    plane = await Plane.start()
    folder = await mkdtemp(join(tmpdir(), 'trustadm-node-run-'))
  })
  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  })
  after(async () => {
    await plane.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const dirOf = (name: string) => join(folder, name)
  const kubeconfigOf = (name: string) => join(dirOf(name), 'kubelet.conf')
  const linkOf = (name: string) => join(dirOf(name), 'pki', 'kubelet-client-current.pem')
  const joined = async (name: string, ...more: string[]) => {
    const {endpoint, token, caCertHashes} = plane.cluster
    const pins = caCertHashes.flatMap((pin) => ['--discovery-token-ca-cert-hash', pin])
    const place = ['--dir', dirOf(name), '--node-name', name]
    const host = new URL(endpoint).host
    const {code, stderr} = await trustadm(
      'join',
      host,
      '--token',
      token,
      ...pins,
      ...place,
      ...more,
    )
    assert.equal(code, 0, stderr)
  }
  /** The built program, with what it has logged so far. */
  const start = async (name: string, ...flags: string[]) => {
    const args = [PROGRAM, 'node', 'run', '--dir', dirOf(name), ...flags]
    const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'pipe']})
    running.push(child)
    let [ready, log] = ['', '']
    child.stdout.on('data', (data: Buffer) => (ready += data.toString()))
    child.stderr.on('data', (data: Buffer) => (log += data.toString()))
    await until('ready', () => ready === `ready ${name}\n` || child.exitCode !== null)
    assert.equal(child.exitCode, null, log)
    return {
      child,
      logged: (text: string) => until(`${text}\n${log}`, () => log.includes(text)),
      /** Waits for the text in what is logged from now on. */
      logs: async (text: string) => {
        const from = log.length
        await until(`${text}\n${log}`, () => log.slice(from).includes(text))
      },
    }
  }
  const userOf = async (name: string) => {
    const client = await connect(kubeconfigOf(name), {retry: {attempts: 1}})
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }

  it('renews while requests run through its connection, and none fails', async () => {
    await plane.restart(undefined, ...SHORT)
    await joined('busy')
    const {stdout} = await run(process.execPath, ['--import', 'tsx', BUSY, dirOf('busy'), '3'])
    const {renewals, requests, watches, failures} = JSON.parse(stdout) as {
      renewals: number
      requests: number
      watches: number
      failures: string[]
    }
    assert.deepEqual(failures, [])
    assert.ok(renewals >= 3, stdout)
    assert.ok(watches > 3, stdout)
    assert.ok(requests > 100, stdout)
  })

  it('keeps kubelet.conf usable by others at every moment, and asks for the shortest certificates', async () => {
    await joined('shared')
    const {child} = await start('shared', '--cert-duration', '10m')
    const targets = new Set<string>()
    while (targets.size < 4) {
      targets.add(await readlink(linkOf('shared')))
      assert.equal(await userOf('shared'), 'system:node:shared')
    }
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    const admin = await connect(plane.cluster.kubeconfig)
    const {items} = await admin.csrs.list()
    await admin.close()
    const own = items.filter(({spec}) => spec.username === 'system:node:shared')
    assert.ok(own.length >= 3)
    assert.deepEqual([...new Set(own.map(({spec}) => spec.expirationSeconds))], [600])
  })

  it('goes on after its server was away', async () => {
    await joined('patient')
    const {child, logs} = await start('patient')
    const failed = logs('error: renewing the client certificate')
    await plane.restart(() => failed, ...SHORT)
    const renewed = logs('the client certificate was renewed')
    child.kill('SIGHUP')
    await renewed
    assert.equal(await userOf('patient'), 'system:node:patient')
  })

  it('keeps the old certificate while the disk is full', async function () {
    await mkdir(dirOf('full'))
    if (!succeeds('mount', '-t', 'tmpfs', '-o', 'size=512k,mode=700', 'none', dirOf('full')))
      this.skip()
    try {
      await joined('full')
      const {child, logged, logs} = await start('full')
      await logged('was renewed')
      const filler = join(dirOf('full'), 'filler')
      await writeFile(filler, Buffer.alloc(1024 * 1024)).catch(() => undefined)
      await logged('the disk is full')
      assert.equal(await userOf('full'), 'system:node:full')
      await rm(filler)
      const renewed = logs('the client certificate was renewed')
      child.kill('SIGHUP')
      await renewed
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    } finally {
      succeeds('umount', dirOf('full'))
    }
  })

  it('recovers a machine whose certificate expired while it was off', async () => {
    await plane.restart(undefined, '--cluster-signing-duration', '8s')
    await joined('late')
    const status = async () => {
      const {code, stdout} = await trustadm('node', 'status', '--dir', dirOf('late'), '-o', 'json')
      assert.equal(code, 7)
      return (JSON.parse(stdout) as NodeStatus).certificates[0]?.state
    }
    await until('expired', async () => (await status()) === 'expired')
    await plane.restart()
    const alone = await trustadm('node', 'run', '--once', '--dir', dirOf('late'))
    assert.match(alone.stderr, /the certificate of this node expired/)
    assert.equal(alone.code, 4)

    const oldKey = parsePrivateKey(await readFile(linkOf('late'), 'utf8'))
    await joined('helper', '--for-kubelet')
    const bootstrap = ['--bootstrap-kubeconfig', join(dirOf('helper'), 'bootstrap-kubelet.conf')]
    const {code, stderr} = await trustadm(
      'node',
      'run',
      '--once',
      '--dir',
      dirOf('late'),
      ...bootstrap,
    )
    assert.equal(code, 0, stderr)
    assert.equal(await userOf('late'), 'system:node:late')
    assert.ok(!parsePrivateKey(await readFile(linkOf('late'), 'utf8')).equals(oldKey))
  })

  it('renews on request, by the running process or without one', async () => {
    await joined('asked')
    const renew = async () => {
      const before = await readlink(linkOf('asked'))
      const {code, stderr} = await trustadm('node', 'renew', '--dir', dirOf('asked'))
      assert.equal(code, 0, stderr)
      assert.notEqual(await readlink(linkOf('asked')), before)
    }
    await renew()
    const {logged} = await start('asked', '--metrics-address', '0')
    await renew()
    await logged('the client certificate was renewed')
  })

  it('lets a daemon start again with new CAs', async () => {
    await joined('hooked')
    const [pidFile, starts] = [join(folder, 'daemon.pid'), join(folder, 'daemon.starts')]
    const ca = join(dirOf('hooked'), 'pki', 'ca.crt')
    // Stands in for a daemon under a service manager: it reads the CAs when it starts, and is started again when it ends.
    const daemon = `echo $$ > ${pidFile}; grep -c BEGIN ${ca} >> ${starts}; exec sleep 600`
    let isOver = false
    const supervised = (async () => {
      while (!isOver) {
        const child = spawn('sh', ['-c', daemon])
        running.push(child)
        await once(child, 'exit')
      }
    })()
    const {child} = await start('hooked', '--on-change', `kill $(cat ${pidFile})`)
    const pki = join(plane.cluster.dir, 'pki', 'ca.crt')
    const other = await makeAuthority('next')
    await writeFile(pki, (await readFile(pki, 'utf8')) + other.pem)
    process.kill(plane.pid, 'SIGHUP')
    await until('two CAs', async () => {
      child.kill('SIGHUP')
      return parseBundle(await readFile(ca, 'utf8')).length === 2
    })
    await until('a second start', async () => (await readFile(starts, 'utf8')) === '1\n2\n')
    isOver = true
    process.kill(Number(await readFile(pidFile, 'utf8')))
    await supervised
    assert.equal(await userOf('hooked'), 'system:node:hooked')
  })
})
