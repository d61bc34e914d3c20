import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmod, mkdir, readFile, readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {isRunning} from '../helpers/cluster.ts'
import {
  LOCAL,
  PROGRAM,
  programFixture,
  trustadm,
  trustadmWith,
  type ProgramFixture,
} from '../helpers/program.ts'
import {until} from '../server/support.ts'

/**
 * In place of systemctl, where no systemd runs: records its arguments, starts what the unit says in a session of its own, with the
 * variable that systemd sets, and ends it.
 */
const STAND_IN = `#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in
  is-system-running) echo running ;;
  enable)
    command=$(sed -n 's/^ExecStart=//p' "$UNITS/$3")
    setsid sh -c "export SYSTEMD_EXEC_PID=\\$\\$; exec $command" > /dev/null 2>&1 < /dev/null & ;;
  disable) kill "$(sed -n 's/^ *"pid": \\([0-9]*\\),$/\\1/p' "$PLANE/server.json" | head -n 1)" ;;
esac
`

describe('a control plane under systemd', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let env: Record<string, string> = {}
  let units = ''

  beforeEach(async function () {
    if (process.platform !== 'linux' || process.geteuid?.() !== 0) this.skip()
    fixture = await programFixture()
    units = join(fixture.folder, 'units')
    const bin = join(fixture.folder, 'bin')
    await mkdir(units)
    await mkdir(bin)
    await writeFile(join(bin, 'systemctl'), STAND_IN)
    await chmod(join(bin, 'systemctl'), 0o755)
    env = {
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      CALLS: join(fixture.folder, 'calls'),
      UNITS: units,
      PLANE: fixture.dir,
    }
  })
  afterEach(async () => {
    await trustadmWith({env}, 'reset', '--yes', '--dir', fixture.dir)
    await fixture.remove()
  })

  const calls = async () => (await readFile(env.CALLS ?? '', 'utf8')).trim().split('\n')
  const init = (...more: string[]) =>
    trustadmWith({env}, 'init', '--dir', fixture.dir, '--unit-dir', units, ...LOCAL, ...more)
  const run = (...args: string[]) => trustadmWith({env}, ...args, '--dir', fixture.dir)

  it('is installed, enabled and started by init, and removed by reset', async () => {
    // One in the background is handed over.
    await init()
    const background = await fixture.serverPid()
    const {code, stderr} = await init('--systemd')
    assert.equal(code, 0, stderr)
    assert.notEqual(await fixture.serverPid(), background)
    assert.deepEqual(await calls(), [
      'is-system-running',
      'daemon-reload',
      'enable --now trustadm.service',
    ])
    const unit = await readFile(join(units, 'trustadm.service'), 'utf8')
    const command = `ExecStart=${process.execPath} ${PROGRAM} serve --dir ${fixture.dir}\n`
    assert.ok(unit.includes(command), unit)

    for (const [command, verb] of [
      ['stop', 'stop'],
      ['restart', 'restart'],
    ] as const) {
      const refused = await run(command)
      assert.equal(refused.code, 6)
      assert.match(
        refused.stderr,
        new RegExp(`systemctl ${verb} trustadm.service|systemctl ${verb} `),
      )
    }
    const started = await run('start', '--output', 'json')
    assert.equal((JSON.parse(started.stdout) as {runner: string}).runner, 'systemd')

    const reset = await run('reset', '--yes')
    assert.equal(reset.code, 0, reset.stderr)
    assert.match(reset.stdout, /removed the systemd unit/)
    assert.deepEqual((await calls()).slice(-2), ['disable --now trustadm.service', 'daemon-reload'])
    assert.deepEqual(await readdir(units), [])
  })

  it('is started by systemctl alone once its unit is installed', async () => {
    await init('--systemd')
    const pid = await fixture.serverPid()
    process.kill(pid, 'SIGTERM')
    await until(() => !isRunning(pid))
    const {code, stderr} = await run('start')
    assert.equal(code, 6)
    assert.match(stderr, /systemctl start trustadm\.service/)
    assert.match((await run('status')).stdout, /^start it {2}systemctl start trustadm\.service$/m)
  })

  it('is refused before anything is written where systemd does not run', async () => {
    await writeFile(join(fixture.folder, 'bin', 'systemctl'), '#!/bin/sh\necho offline\nexit 1\n')
    const {code, stderr} = await init('--systemd')
    assert.equal(code, 1)
    assert.match(stderr, /systemd does not run on this machine[^]*serve --print-unit/)
    assert.deepEqual((await readdir(fixture.folder)).sort(), ['bin', 'units'])
  })
})

describe('serve --print-unit', function () {
  this.timeout(60_000)

  it('prints the unit with the other flags given, and starts nothing', async () => {
    const fixture = await programFixture()
    try {
      await fixture.init(
        '--skip-phases',
        'control-plane,namespaces,rbac,cluster-info,mark-control-plane,bootstrap-token',
      )
      const child = spawn(
        process.execPath,
        [PROGRAM, 'serve', '--print-unit', '--dir', 'plane', '--deny', '--audit-log-path', 'a.log'],
        {cwd: fixture.folder, stdio: ['ignore', 'pipe', 'inherit']},
      )
      let text = ''
      child.stdout.on('data', (data: Buffer) => (text += data.toString()))
      assert.deepEqual(await once(child, 'close'), [0, null])
      const {folder, dir} = fixture
      const flags = `serve --dir ${dir} --deny --audit-log-path ${join(folder, 'a.log')}`
      assert.ok(text.includes(`ExecStart=${process.execPath} ${PROGRAM} ${flags}\n`), text)
      assert.equal((await trustadm('status', '--dir', dir)).code, 1)
    } finally {
      await fixture.remove()
    }
  })
})
