import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {stat} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {VERSION} from '../../src/version.ts'
import {isRunning} from '../helpers/cluster.ts'
import {until} from '../server/support.ts'
import {cutPower} from '../helpers/power-cut.ts'
import {LOCAL, PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {completesAfterKills} from './killed-init.ts'

describe('the built program', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let dir = ''
  beforeEach(async () => {
    fixture = await programFixture()
    dir = fixture.dir
  })
  afterEach(() => fixture.remove())

  const init = (...more: string[]) => fixture.init(...more)
  const serverPid = () => fixture.serverPid()

  it('sets up a control plane with init, keeps it in a second run, and removes it with reset', async () => {
    const first = await init('--output', 'json')
    assert.equal(first.code, 0, first.stderr)
    const result = JSON.parse(first.stdout) as Record<string, unknown>
    assert.deepEqual(Object.keys(result), [
      'endpoint',
      'caCertHashes',
      'token',
      'joinCommand',
      'certificateKey',
      'controlPlaneJoinCommand',
      'kubeconfig',
      'dir',
    ])
    const client = await connect(result.kubeconfig as string)
    assert.equal((await client.raw('/readyz')).trim(), 'ok')
    await client.close()

    const pid = await serverPid()
    const second = await init('--output', 'json')
    assert.deepEqual(JSON.parse(second.stdout), result)
    assert.equal(await serverPid(), pid)

    const removed = await trustadm('reset', '--yes', '--dir', dir)
    assert.equal(removed.code, 0, removed.stderr)
    assert.equal(isRunning(pid), false)
    await assert.rejects(stat(dir), {code: 'ENOENT'})
  })

  // Killed in more places: init-killed.release.test.ts.
  it('completes in the next run, wherever init was killed', () =>
    completesAfterKills(fixture, [6, 14]))

  it('serves in the foreground until SIGTERM and ends with 0', async () => {
    await init('--skip-phases', 'control-plane,namespaces,rbac')
    const server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    assert.match(line.toString(), /^ready https:\/\/127\.0\.0\.1:\d+\n$/)

    const second = await trustadm('serve', '--dir', dir)
    assert.equal(second.code, 6)
    assert.match(second.stderr, /the server is running already, as process \d+/)

    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    await assert.rejects(stat(join(dir, 'server.json')), {code: 'ENOENT'})
  })

  it('runs the server in the same process with --foreground', async () => {
    const child = spawn(
      process.execPath,
      [PROGRAM, 'init', '--foreground', '-o', 'json', '--dir', dir, ...LOCAL],
      {stdio: ['ignore', 'pipe', 'ignore']},
    )
    const [output] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(await serverPid(), child.pid)
    const {kubeconfig} = JSON.parse(output.toString()) as Record<string, string>
    const client = await connect(kubeconfig)
    assert.equal((await client.raw('/readyz')).trim(), 'ok')
    await client.close()
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    assert.deepEqual(await ended, [0, null])
  })

  it('fails with one JSON object on the standard error and nothing on the standard output', async () => {
    const {code, stdout, stderr} = await trustadm('status', '--dir', dir, '--output', 'json')
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.equal((JSON.parse(stderr) as {error: {code: string}}).error.code, 'NOT_FOUND')
  })

  it('does not ask where there is no terminal', async () => {
    await init('--skip-phases', 'control-plane,namespaces,rbac')
    const {code, stderr} = await trustadm('reset', '--dir', dir)
    assert.equal(code, 2)
    assert.match(stderr, /--yes/)
    assert.ok(await stat(join(dir, 'config.yaml')))
  })
})

describe('a control plane of the built program', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let dir = ''
  before(async () => {
    fixture = await programFixture()
    dir = fixture.dir
    const {code, stderr} = await fixture.init()
    assert.equal(code, 0, stderr)
  })
  after(() => fixture.remove())

  const init = (...more: string[]) => fixture.init(...more)
  const serverPid = () => fixture.serverPid()

  it('tells its state by status and its exit code', async () => {
    const running = await trustadm('status', '--output', 'json', '--dir', dir)
    assert.equal(running.code, 0, running.stderr)
    const report = JSON.parse(running.stdout) as {
      server: {ready: boolean; version: string}
      servers: {version: string; alive: boolean}[]
      objects: {resource: string; count: number}[]
    }
    assert.equal(report.server.ready, true)
    assert.deepEqual(
      report.servers.map(({version, alive}) => [version, alive]),
      [[VERSION, true]],
    )
    assert.ok(report.objects.some(({resource, count}) => resource === 'namespaces' && count >= 4))

    const check = (within: string) =>
      trustadm('certificate', 'check-expiration', '--within', within, '--dir', dir)
    assert.equal((await check('30d')).code, 0)
    const due = await check('400d')
    assert.equal(due.code, 7)
    assert.match(due.stderr, /these end within 400d: .*apiserver/)
    assert.doesNotMatch(due.stderr, /front-proxy-ca/)
    assert.equal((await check('soon')).code, 2)
    const statusWithin = (within: string) => trustadm('status', '--within', within, '--dir', dir)
    assert.equal((await statusWithin('30d')).code, 0)
    const ending = await statusWithin('4000d')
    assert.equal(ending.code, 7)
    assert.match(ending.stderr, /these end within 4000d: apiserver.*, ca,.*front-proxy-ca/)
    assert.equal((await statusWithin('soon')).code, 2)

    const pid = await serverPid()
    process.kill(pid, 'SIGTERM')
    await until(() => !isRunning(pid))
    assert.match((await trustadm('status', '--dir', dir)).stdout, /stopped/)
  })

  it('starts a server that was killed again, on the same port and with what it stored', async () => {
    const first = await init('--output', 'json')
    const {kubeconfig, endpoint} = JSON.parse(first.stdout) as Record<string, string>
    const client = await connect(kubeconfig)
    await client.namespaces.create({metadata: {name: 'kept'}})
    cutPower(fixture.dir)
    const second = await init('--output', 'json')
    assert.equal(second.code, 0, second.stderr)
    assert.equal((JSON.parse(second.stdout) as Record<string, string>).endpoint, endpoint)
    assert.ok(await client.namespaces.find({name: 'kept'}))
    await client.close()
  })
})
