import assert from 'node:assert/strict'
import {spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {createWriteStream} from 'node:fs'
import {mkdir, readFile, rm, stat, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {pipeline} from 'node:stream/promises'
import {setTimeout as sleep} from 'node:timers/promises'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {savePlane} from '../../src/control-plane/config/stored.ts'
import {hasCode, messageOf} from '../../src/errors.ts'
import {planeFixture} from '../control-plane/plane-fixture.ts'
import {isRunning} from '../helpers/cluster.ts'
import {PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {canInject, injecting} from '../helpers/strace.ts'

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, {stdio: 'ignore'}).status === 0

/** Waits until it holds, whatever is in the way for now. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(50)
}

describe('the server when things break', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let client: ApiClient | undefined

  beforeEach(async () => {
    fixture = await programFixture()
    await mkdir(fixture.dir)
  })
  afterEach(async () => {
    await client?.close()
    client = undefined
    await fixture.remove()
  })

  const log = () => readFile(join(fixture.dir, 'logs', 'server.log'), 'utf8')
  const start = async () => {
    const {code, stderr} = await fixture.init()
    assert.equal(code, 0, stderr)
    return (client = await connect(join(fixture.dir, 'admin.conf')))
  }
  /** Once it has ended it frees nothing more on the disk. */
  const stopServer = async () => {
    const pid = await fixture.serverPid()
    process.kill(pid, 'SIGTERM')
    await until(() => Promise.resolve(!isRunning(pid)))
  }
  const settings = (name: string, size = 40_000) => ({
    metadata: {name, namespace: 'default'},
    data: {value: 'v'.repeat(size)},
  })

  describe('on a disk that fills up', () => {
    beforeEach(function () {
      if (run('mount', '-t', 'tmpfs', '-o', 'size=24m,mode=700', 'none', fixture.dir)) return
      process.stderr.write('      skipped: only root may mount a small file system\n')
      this.skip()
    })
    // The server first: without its folder it could not be found any more.
    afterEach(async () => {
      await rm(join(fixture.dir, 'filler'), {force: true})
      await trustadm('reset', '--yes', '--dir', fixture.dir)
      run('umount', '-l', fixture.dir)
    })

    /** Takes all room that is left. */
    const fill = () =>
      pipeline(
        function* () {
          for (;;) yield Buffer.alloc(65_536)
        },
        createWriteStream(join(fixture.dir, 'filler')),
      ).catch((error: unknown) => {
        assert.match(messageOf(error), /ENOSPC/)
      })

    it('stays up, refuses writes with one clear sentence, says so in readyz, and recovers when there is room', async () => {
      const {configMaps, raw} = await start()
      const pid = await fixture.serverPid()
      await fill()
      let refusal: unknown
      for (let index = 0; refusal === undefined; index++) {
        await configMaps.create(settings(`filling-${index}`)).catch((error: unknown) => {
          refusal = error
        })
      }
      assert.ok(hasCode(refusal, 'SERVER_ERROR'))
      assert.equal(
        refusal.message,
        'Internal error occurred: the store cannot write: the disk is full; nothing was changed: free some space on the disk of the server, then try again',
      )
      await assert.rejects(raw('/readyz?verbose'), /\[-\]storage failed/)
      assert.equal(await raw('/livez'), 'ok')
      assert.ok(await configMaps.find({namespace: 'default', name: 'filling-0'}))
      const {code, stdout} = await trustadm('status', '--dir', fixture.dir)
      assert.equal(code, 1)
      assert.match(stdout, /storage: the store cannot write: the disk is full/)

      await rm(join(fixture.dir, 'filler'))
      await until(async () => (await raw('/readyz')) === 'ok')
      await configMaps.create(settings('after'))
      assert.equal(await fixture.serverPid(), pid)
      assert.match(await log(), /the store accepts writes again/)
      assert.doesNotMatch(await log(), /^ +at /m)
    })

    it('says on a full disk why it cannot start', async () => {
      await start()
      await stopServer()
      await fill()
      const {code, stderr} = await fixture.init()
      assert.equal(code, 1)
      assert.match(stderr, /no space left on device|the disk is full/i)
    })
  })

  it('outlives the reader of its log and of its output', async () => {
    await start()
    await stopServer()
    const server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', fixture.dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    server.stdout.destroy()
    server.stderr.destroy()
    const ended = once(server, 'exit')
    await until(async () => (await fixture.serverPid()) === server.pid)
    // Each of these is a line of the log.
    for (let round = 0; round < 3; round++) server.kill('SIGHUP')
    await until(async () => (await client?.raw('/readyz')) === 'ok')
    await client?.configMaps.create(settings('later', 10))
    server.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  it('keeps the log of the background server to its size', async () => {
    await mkdir(join(fixture.dir, 'logs'), {mode: 0o700})
    await writeFile(join(fixture.dir, 'logs', 'server.log'), 'old\n', {mode: 0o600})
    await truncate(join(fixture.dir, 'logs', 'server.log'), 11 * 1024 * 1024)
    await start()
    process.kill(await fixture.serverPid(), 'SIGHUP')
    await until(async () => (await stat(join(fixture.dir, 'logs', 'server.log.1'))).size > 0)
    await until(async () => (await stat(join(fixture.dir, 'logs', 'server.log'))).size < 10_000)
    assert.match(await readFile(join(fixture.dir, 'logs', 'server.log.1'), 'utf8'), /^old\n/)
    assert.equal((await stat(join(fixture.dir, 'logs', 'server.log.1'))).mode & 0o777, 0o600)
  })

  for (const signal of ['SIGABRT', 'SIGKILL'] as const)
    it(`is started again after ${signal}, with what it had acknowledged`, async () => {
      const {configMaps} = await start()
      await configMaps.create(settings('kept', 10))
      const pid = await fixture.serverPid()
      process.kill(pid, signal)
      await until(async () => (await fixture.serverPid()) !== pid)
      await until(async () => (await client?.raw('/readyz')) === 'ok')
      assert.ok(await configMaps.find({namespace: 'default', name: 'kept'}))
      assert.match(await log(), /the server crashed .* restarting in 1 s/)
    })

  it('survives I/O errors at its commits: what they hit gets 500 and is not there later', async function () {
    if (!canInject()) {
      process.stderr.write('      skipped: strace cannot inject faults here\n')
      this.skip()
    }
    const {configMaps, raw} = await start()
    await stopServer()
    const data = join(fixture.dir, 'store', 'data.mdb')
    const serve = [process.execPath, PROGRAM, 'serve', '--dir', fixture.dir]
    const [command = '', ...args] = injecting(data, 'fdatasync', '9+11', serve)
    // One thread, so that every eleventh sync fails, and not the eleventh of each thread.
    const env = {...process.env, UV_THREADPOOL_SIZE: '1'}
    const tracer: ChildProcess = spawn(command, args, {env, stdio: 'ignore'})
    const ended = once(tracer, 'exit')
    await until(async () => (await raw('/readyz')) === 'ok')
    await until(async () => (await fixture.serverPid()) > 0)
    const pid = await fixture.serverPid()
    const outcomes: {name: string; stored: boolean}[] = []
    for (let index = 0; index < 40; index++) {
      const name = `one-${index}`
      try {
        await configMaps.create(settings(name, 10))
        outcomes.push({name, stored: true})
      } catch (error) {
        assert.ok(hasCode(error, 'SERVER_ERROR'), messageOf(error))
        assert.match(error.message, /the store cannot write: Input\/output error/)
        outcomes.push({name, stored: false})
      }
    }
    assert.ok(outcomes.some(({stored}) => stored))
    assert.ok(outcomes.some(({stored}) => !stored))
    const requireOutcomes = async () => {
      for (const {name, stored} of outcomes) {
        const found = await configMaps.find({namespace: 'default', name})
        assert.equal(found !== undefined, stored, name)
      }
    }
    await requireOutcomes()
    assert.equal(await fixture.serverPid(), pid)
    process.kill(pid, 'SIGKILL')
    await ended
    await start()
    await requireOutcomes()
  })

  it('says at its start and in status that its certificates have expired, and what to do', async () => {
    const plane = await planeFixture({}, fixture.dir)
    plane.context.clock = {now: () => new Date(Date.now() - 2 * 365 * 86_400_000)}
    await plane.run('certs', 'kubeconfig')
    await savePlane(plane.context.plane)
    const server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', fixture.dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    server.stderr.on('data', (data: Buffer) => (said += data.toString()))
    const ended = once(server, 'exit')
    await once(server.stdout, 'data')
    assert.match(
      said,
      /pki\/apiserver\.crt has expired .* run "trustadm certificate renew apiserver --dir /,
    )
    const expired = await trustadm('status', '--dir', fixture.dir)
    assert.equal(expired.code, 3, expired.stderr)
    assert.match(expired.stdout, /! apiserver: .*expired/)

    const renewed = await trustadm('certificate', 'renew', 'all', '--dir', fixture.dir)
    assert.equal(renewed.code, 0, renewed.stderr)
    await until(async () => (await trustadm('status', '--dir', fixture.dir)).code === 0)
    assert.match(said, /the certificates are valid again/)
    server.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })
})
