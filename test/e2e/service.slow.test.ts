import assert from 'node:assert/strict'
import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {readFile, writeFile} from 'node:fs/promises'
import {createServer} from 'node:net'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {isRunning} from '../helpers/cluster.ts'
import {PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {until} from '../server/support.ts'

interface Report {
  running: boolean
  changed: boolean
  pid: number | null
  runner: string | null
  endpoint: string
}

describe('start, stop and restart', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let dir = ''

  // One control plane for all tests, whose server runs at the start of each.
  before(async () => {
    fixture = await programFixture()
    dir = fixture.dir
    const {code, stderr} = await fixture.init()
    assert.equal(code, 0, stderr)
  })
  beforeEach(async () => {
    if (!(await isServing())) await report('start')
  })
  after(() => fixture.remove())

  /** As the last test has left it. */
  const isServing = async (): Promise<boolean> => {
    const pid = await fixture.serverPid().catch(() => undefined)
    return pid !== undefined && isRunning(pid)
  }
  const run = (command: string, ...more: string[]) => trustadm(command, '--dir', dir, ...more)
  const report = async (command: string): Promise<Report> => {
    const {code, stdout, stderr} = await run(command, '--output', 'json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Report
  }

  it('stop and start the server, once each, and say how to start a stopped one', async () => {
    const first = await fixture.serverPid()
    const stopped = await report('stop')
    assert.deepEqual(
      [stopped.running, stopped.changed, stopped.pid, stopped.runner],
      [false, true, first, 'background'],
    )
    // It is nobody's child any more: the system may take a moment to forget it.
    await until(() => !isRunning(first))
    const again = await report('stop')
    assert.deepEqual([again.running, again.changed, again.pid], [false, false, null])
    assert.equal((await run('stop')).stdout, 'the server is not running\n')

    const status = await run('status')
    assert.equal(status.code, 1)
    assert.match(status.stdout, new RegExp(`^start it  trustadm start --dir ${dir}$`, 'm'))

    const started = await report('start')
    assert.deepEqual([started.running, started.changed], [true, true])
    assert.equal(started.endpoint, stopped.endpoint)
    const client = await connect(join(dir, 'admin.conf'))
    assert.equal((await client.raw('/readyz')).trim(), 'ok')
    await client.close()
    assert.deepEqual(await report('start'), {...started, changed: false})
  })

  it('restart without losing an acknowledged write', async () => {
    const first = await fixture.serverPid()
    const client = await connect(join(dir, 'admin.conf'), {retry: {attempts: 1}})
    const acknowledged: string[] = []
    let isOver = false
    const write = async () => {
      for (let number = 0; !isOver; number++) {
        const name = `w-${number}`
        const made = client.configMaps.create({metadata: {namespace: 'default', name}})
        await made.then(
          () => acknowledged.push(name),
          () => undefined,
        )
      }
    }
    const writing = write()
    await until(() => acknowledged.length > 10)
    const {running, changed, pid} = await report('restart')
    const before = acknowledged.length
    await until(() => acknowledged.length > before)
    isOver = true
    await writing
    assert.deepEqual([running, changed], [true, true])
    assert.notEqual(pid, first)
    const {items} = await client.configMaps.list({namespace: 'default'})
    const stored = new Set(items.map(({metadata}) => metadata.name))
    assert.deepEqual(
      acknowledged.filter((name) => !stored.has(name)),
      [],
    )
    await client.close()
  })

  it('leave a running server alone if it could not start again', async () => {
    const pid = await fixture.serverPid()
    const file = join(dir, 'pki', 'ca.crt')
    const ca = await readFile(file)
    await writeFile(file, 'not a certificate')
    try {
      const {code, stderr} = await run('restart')
      assert.equal(code, 1, stderr)
      assert.match(stderr, /there is no PEM certificate/)
      assert.equal(isRunning(pid), true)
    } finally {
      await writeFile(file, ca)
    }
  })

  it('name the next step where there is no control plane, and make no folder', async () => {
    const none = join(fixture.folder, 'none')
    for (const command of ['start', 'stop', 'restart']) {
      const {code, stderr} = await trustadm(command, '--dir', none)
      assert.equal(code, 1)
      assert.match(stderr, /there is no control plane in [^]*trustadm init/)
    }
    await assert.rejects(readFile(none), {code: 'ENOENT'})
  })

  it('say that another program has the port', async () => {
    const {endpoint} = await report('stop')
    const {port} = new URL(endpoint)
    const other = createServer().listen(Number(port), '127.0.0.1')
    await once(other, 'listening')
    const {code, stderr} = await run('start')
    other.close()
    assert.equal(code, 6)
    assert.match(stderr, new RegExp(`something already listens on 127.0.0.1:${port}`))
  })

  it('never send a signal to a process that has the number of the server by chance', async () => {
    await report('stop')
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'])
    const state = {pid: stranger.pid, identity: 'another boot/1', port: 1, endpoint: ''}
    await writeFile(join(dir, 'server.json'), JSON.stringify(state))
    assert.equal((await report('stop')).changed, false)
    assert.equal(stranger.exitCode, null)
    assert.equal(stranger.signalCode, null)
    const ended = once(stranger, 'exit')
    stranger.kill('SIGKILL')
    await ended
  })

  /** The process that restarts a server, stopped, after the server has crashed. */
  async function crash(): Promise<number> {
    const pid = await fixture.serverPid()
    const text = await readFile(`/proc/${pid}/status`, 'utf8')
    const supervisor = Number(/^PPid:\s*(\d+)$/m.exec(text)?.[1])
    process.kill(supervisor, 'SIGSTOP')
    process.kill(pid, 'SIGABRT')
    await until(async () => {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
      return state.slice(state.lastIndexOf(')') + 2).startsWith('Z')
    })
    return supervisor
  }

  it('end what would restart a server that has crashed', async () => {
    const supervisor = await crash()
    const stopping = report('stop')
    process.kill(supervisor, 'SIGCONT')
    await stopping
    assert.equal(isRunning(supervisor), false)
    await assert.rejects(connect(join(dir, 'admin.conf')).then((one) => one.raw('/readyz')))
  })

  it('end a server that was just restarted and is in no file yet', async () => {
    const supervisor = await crash()
    process.kill(supervisor, 'SIGCONT')
    let restarted = 0
    await until(async () => {
      const children = await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8')
      for (const pid of children.split(' ').filter(Boolean)) {
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
        if (command.split('\0')[2] === 'serve') restarted = Number(pid)
      }
      return restarted > 0
    })
    process.kill(restarted, 'SIGSTOP')
    const stopping = report('stop')
    await until(() => !isRunning(supervisor))
    process.kill(restarted, 'SIGCONT')
    await stopping
    assert.equal(isRunning(restarted), false)
  })

  describe('beside a server in the foreground', () => {
    let server: ChildProcess
    beforeEach(async () => {
      await report('stop')
      server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', dir], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      assert.ok(server.stdout)
      await once(server.stdout, 'data')
    })
    afterEach(async () => {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
    })

    it('start has nothing to do; stop and restart refuse, and name the process', async () => {
      const started = await report('start')
      assert.deepEqual(
        [started.changed, started.pid, started.runner],
        [false, server.pid, 'foreground'],
      )
      for (const command of ['stop', 'restart']) {
        const {code, stderr} = await run(command)
        assert.equal(code, 6)
        assert.match(stderr, new RegExp(`\\(process ${server.pid ?? 0}\\) runs in the foreground`))
      }
      assert.equal(server.exitCode, null)
    })
  })
})
