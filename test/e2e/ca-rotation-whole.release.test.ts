import assert from 'node:assert/strict'
import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {readFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {verifyChain} from '../../src/pki/verify.ts'
import {systemClock} from '../../src/runtime.ts'
import {eventually} from '../controllers/signing/support.ts'
import {joinBy, joinFixture, type JoinFixture} from '../helpers/joining.ts'
import {PROGRAM, trustadm} from '../helpers/program.ts'
import {rotateIn} from '../helpers/rotating.ts'

const accessOf = async (file: string): Promise<ServerAccess> =>
  resolveAccess(await loadKubeconfig(file))

const nodesOf = ({dependents}: RotationReport): string[] =>
  dependents.filter(({kind}) => kind === 'node').map(({name}) => name)

/** Every object that the API lists, as text. */
async function allObjects(client: ApiClient): Promise<{path: string; text: string}[]> {
  const read = async (path: string) => JSON.parse(await client.raw(path)) as Record<string, unknown>
  try {
    const groups = (await read('/apis')).groups as {preferredVersion: {groupVersion: string}}[]
    const roots = [
      '/api/v1',
      ...groups.map(({preferredVersion: one}) => `/apis/${one.groupVersion}`),
    ]
    const found: {path: string; text: string}[] = []
    for (const root of roots) {
      const {resources} = (await read(root)) as {resources: {name: string; verbs: string[]}[]}
      for (const {name} of resources.filter(({verbs}) => verbs.includes('list'))) {
        const {items} = (await read(`${root}/${name}`)) as {items: object[]}
        for (const item of items) found.push({path: `${root}/${name}`, text: JSON.stringify(item)})
      }
    }
    return found
  } finally {
    await client.close()
  }
}

/** Whether a text has a certificate: as PEM in a line, or its base64. */
function holds(text: string, pem: string): boolean {
  const body = pem.split('\n').slice(1, -2).join('')
  const compact = text.replaceAll('\\n', '')
  return [compact, ...decodedParts(compact)].some((one) => one.includes(body))
}

/** What is base64 in a text, decoded, without line feeds: Secrets and kubeconfigs have their CAs in this form. */
function decodedParts(text: string): string[] {
  return (text.match(/[A-Za-z0-9+/]{400,}={0,2}/g) ?? []).map((part) =>
    Buffer.from(part, 'base64').toString('latin1').replaceAll('\n', ''),
  )
}

/** Clients that work all the time: requests on kept connections and on new ones, and a watch. */
class LiveClients {
  readonly failures: unknown[] = []
  answered = 0
  events = 0
  #isOver = false
  readonly #ends = new AbortController()
  readonly #work: Promise<unknown>[] = []

  constructor(access: () => Promise<ServerAccess>, kept: ApiClient) {
    const note = (error: unknown) => {
      if (!this.#isOver) this.failures.push(error)
    }
    const repeat = async (call: () => Promise<unknown>) => {
      while (!this.#isOver) {
        await call().then(() => (this.answered += 1), note)
      }
    }
    const onNewConnection = async () => {
      const client = connectTo(await access(), {retry: {attempts: 1}})
      try {
        await client.namespaces.list()
      } finally {
        await client.close()
      }
    }
    const watch = async () => {
      const select = {namespace: 'default', signal: this.#ends.signal}
      for await (const _ of kept.configMaps.watch(select)) this.events += 1
      if (!this.#isOver) this.failures.push(new Error('the watch ended'))
    }
    this.#work.push(
      repeat(() => kept.namespaces.list()),
      repeat(onNewConnection),
      watch().catch(note),
    )
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#ends.abort()
    await Promise.all(this.#work)
  }
}

describe('rotating the CAs of a control plane', function () {
  this.timeout(180_000)
  let fixture: JoinFixture
  const agents: ChildProcess[] = []
  const own = (name: string) => join(fixture.dir, name)
  const rotate = (action: string, ...more: string[]) => rotateIn(fixture.dir, action, ...more)
  const runAgent = async (dir: string) => {
    const child = spawn(process.execPath, [PROGRAM, 'node', 'run', '--dir', dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    agents.push(child)
    await once(child.stdout, 'data')
    return child
  }

  beforeEach(async () => {
    fixture = await joinFixture()
  })
  afterEach(async () => {
    for (const child of agents.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    await fixture.remove()
  })

  /** Every CA of the control plane, and the key of service accounts, by name. */
  const readAuthorities = async () => {
    const all = new Map<string, {certificate: string; key: string}>()
    for (const file of await readdir(own('pki'))) {
      const name = file.replace(/\.key$/, '')
      if (!/(ca|^sa)\.key$/.test(file)) continue
      const key = await readFile(own(`pki/${file}`), 'utf8')
      const certificate = name === 'sa' ? '' : await readFile(own(`pki/${name}.crt`), 'utf8')
      all.set(name, {certificate, key})
    }
    return all
  }

  it('lets nobody’s request fail, waits for nodes, and leaves nothing of the old CA', async () => {
    const before = await accessOf(own('admin.conf'))
    const old = await readFile(own('pki/ca.crt'), 'utf8')
    const oldOnes = await readAuthorities()
    assert.ok(oldOnes.size > 4, [...oldOnes.keys()].join())
    const uploaded = await trustadm('init', 'phase', 'upload-certs', '--dir', fixture.dir)
    assert.equal(uploaded.code, 0, uploaded.stderr)
    const nodeDir = fixture.nodeDir('worker')
    assert.equal((await joinBy(fixture, 'token', 'worker')).code, 0)
    const kept = connectTo(before)
    const live = new LiveClients(() => accessOf(own('admin.conf')), kept)
    /** Whether a kubelet with pki/ca.crt as its clientCAFile accepts the API server as its caller. */
    const isCallerAccepted = async (when: string) => {
      const leaf = parseCertificate(await readFile(own('pki/apiserver-kubelet-client.crt'), 'utf8'))
      const roots = parseBundle(await readFile(join(nodeDir, 'pki/ca.crt'), 'utf8'))
      const verdict = verifyChain(leaf, {roots, usage: 'client auth', now: systemClock.now()})
      assert.ok(verdict.ok, when)
    }

    const started = await rotate('start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    assert.deepEqual(nodesOf(started.report()), ['worker'])
    assert.equal(started.report().credentials.rotation.certificateAuthorities?.phase, 'Prepare')

    const refused = await rotate('complete', '--yes')
    assert.equal(refused.code, 6)
    assert.match(refused.stderr, /worker/)
    await isCallerAccepted('before the node knows of the new CA')
    assert.equal((await rotate('start', '--yes')).code, 0)

    const agent = await runAgent(nodeDir)
    agent.kill('SIGHUP')
    await eventually(async () => nodesOf((await rotate('status')).report()).length === 0)
    await isCallerAccepted('once the node knows both')
    // It notes that the last step of the start is done.
    assert.equal((await rotate('start', '--yes')).code, 0)
    assert.equal((await rotate('start', '--yes')).code, 6)
    assert.deepEqual(live.failures, [])
    assert.ok(live.answered > 20, String(live.answered))

    await live.stop()
    const after = await accessOf(own('admin.conf'))
    const renewed = connectTo(after)
    const later = new LiveClients(() => accessOf(own('admin.conf')), renewed)
    // The administrator used the old certificate until now. That a new one is in use as well proves nothing.
    const {dependents} = (await rotate('status')).report()
    assert.deepEqual(
      dependents.map(({kind, name}) => `${kind} ${name}`),
      ['client kubernetes-admin', 'replaced replaced-here'],
    )
    const unsaid = await rotate('complete', '--yes')
    assert.equal(unsaid.code, 6)
    assert.match(unsaid.stderr, /copies of admin\.conf[^]*--ignore replaced-here/)
    const alone = await rotate('complete', '--yes', '--ignore', 'replaced-here')
    assert.equal(alone.code, 6)
    assert.match(alone.stderr, /client kubernetes-admin: uses certificate/)
    const ignored = ['--ignore', 'replaced-here,kubernetes-admin']
    const completed = await rotate('complete', '--yes', ...ignored)
    assert.equal(completed.code, 0, completed.stderr)
    // The node has not read that the old CA is gone yet.
    const ending = completed.report()
    assert.equal(ending.credentials.rotation.certificateAuthorities?.phase, 'Finalize')
    assert.deepEqual(
      ending.stillTrusting.map(({name}) => name),
      ['worker'],
    )
    assert.deepEqual(later.failures, [])
    await later.stop()
    await isCallerAccepted('after the completion')
    agent.kill('SIGHUP')
    const nodeFiles = ['cluster-info.yaml', 'kubelet.conf', 'pki/ca.crt']
    const onNode = (name: string) => readFile(join(nodeDir, name), 'utf8')
    await eventually(async () => {
      const texts = await Promise.all(nodeFiles.map(onNode))
      return texts.every((text) => !holds(text.replaceAll('\n', ''), old))
    })
    const current = await readFile(own('pki/ca.crt'), 'utf8')
    for (const name of nodeFiles)
      assert.ok(holds((await onNode(name)).replaceAll('\n', ''), current), name)
    await isCallerAccepted('once the node knows only the new CA')
    // No command notes it.
    await eventually(async () => {
      const {credentials, stillTrusting} = (await rotate('status')).report()
      const {phase} = credentials.rotation.certificateAuthorities ?? {}
      return phase === 'Completed' && stillTrusting.length === 0
    })
    await renewed.close()

    // A certificate of the old CA on an open connection, and a client that knows only the old CA.
    await assert.rejects(kept.namespaces.list(), {code: 'UNAUTHORIZED'})
    await kept.close()
    const stale = connectTo({server: before.server, ca: old}, {retry: {attempts: 1}})
    await assert.rejects(stale.version(), {code: 'SERVER_NOT_TRUSTED'})
    await stale.close()

    const newCa = await readFile(own('pki/ca.crt'), 'utf8')
    const files = await readdir(fixture.dir, {recursive: true, withFileTypes: true})
    for (const file of files.filter((one) => one.isFile() && !one.parentPath.endsWith('store'))) {
      const text = await readFile(join(file.parentPath, file.name), 'utf8').catch(() => '')
      const compact = text.replaceAll('\n', '')
      const isArchive = file.parentPath.endsWith('archive')
      for (const [name, {certificate, key}] of oldOnes) {
        assert.ok(!holds(compact, key), `${file.name} has the old key of ${name}`)
        const isKept = isArchive && file.name.startsWith(`${name}-`)
        if (certificate) assert.equal(holds(compact, certificate), isKept, `${file.name}: ${name}`)
      }
    }
    const objects = await allObjects(await connect(own('super-admin.conf')))
    assert.ok(objects.length > 100, String(objects.length))
    for (const {path, text} of objects) {
      assert.ok(!text.includes('"name":"kubeadm-certs"'), 'the uploaded copies of keys')
      for (const [name, {certificate, key}] of oldOnes)
        assert.ok(!holds(text, certificate || key), `${path} has the old ${name}`)
    }
    // The search finds what is there: in ConfigMaps as text, in cluster-info as base64.
    const withNew = objects.filter(({text}) => holds(text, newCa)).map(({text}) => text)
    for (const name of ['kube-root-ca.crt', 'cluster-info'])
      assert.ok(
        withNew.some((text) => text.includes(`"name":"${name}"`)),
        name,
      )
    // A second rotation may start.
    assert.equal((await rotate('start', '--yes', '--only', 'front-proxy-ca')).code, 0)
  })

  it('forgets a machine whose Node is deleted, until it is seen again', async () => {
    const nodeDir = fixture.nodeDir('worker')
    assert.equal((await joinBy(fixture, 'token', 'worker')).code, 0)
    const machine = connectTo(await accessOf(join(nodeDir, 'kubelet.conf')))
    const admin = await connect(own('super-admin.conf'))
    await machine.version()
    assert.equal((await rotate('start', '--yes')).code, 0)
    const named = async () => {
      const {dependents} = (await rotate('status')).report()
      const own = dependents.filter(({name}) => name.endsWith('worker'))
      return own.map(({kind, name}) => `${kind} ${name}`)
    }
    assert.deepEqual(await named(), ['node worker', 'client system:node:worker'])
    await admin.nodes.delete('worker')
    await eventually(async () => (await named()).length === 0)
    await machine.version()
    assert.deepEqual(await named(), ['client system:node:worker'])
    for (const client of [machine, admin]) await client.close()
  })

  it('goes back without a failed request', async () => {
    const nodeDir = fixture.nodeDir('worker')
    assert.equal((await joinBy(fixture, 'token', 'worker')).code, 0)
    const agent = await runAgent(nodeDir)
    const old = await readFile(own('pki/ca.crt'), 'utf8')
    const before = await accessOf(own('admin.conf'))
    const kept = connectTo(before)
    const live = new LiveClients(() => accessOf(own('admin.conf')), kept)
    assert.equal((await rotate('start', '--yes')).code, 0)
    agent.kill('SIGHUP')
    await eventually(async () => nodesOf((await rotate('status')).report()).length === 0)

    const first = await rotate('abort', '--yes')
    assert.equal(first.code, 5, first.stderr)
    assert.deepEqual(nodesOf(first.report()), ['worker'])
    agent.kill('SIGHUP')
    const aborted = await rotate('abort', '--yes', '--wait')
    assert.equal(aborted.code, 0, aborted.stderr)
    assert.deepEqual(live.failures, [])
    await live.stop()
    await kept.close()
    assert.equal(await readFile(own('pki/ca.crt'), 'utf8'), old)
    const names = await readdir(own('pki'))
    assert.deepEqual(
      names.filter((name) => /client-ca|kubelet-ca|rotation|archive/.test(name)),
      [],
    )
  })
})
