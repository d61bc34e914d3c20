import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {open, readFile, readdir, readlink, realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {onEtcd} from '../helpers/on-etcd.ts'
import {LOCAL, PROGRAM, programFixture, type ProgramFixture} from '../helpers/program.ts'

const TOKEN = 'abcdef.u7zq2m9x4c6b1n8w'

describe('the background server', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let processes: number[] = []

  before(async function () {
    if (process.platform !== 'linux') this.skip()
    fixture = await programFixture()
    const foreign = await open(join(fixture.folder, 'foreign'), 'w')
    // Number 40, behind a gap: Node.js looks for inherited descriptors only up to the first gap.
    const gap = Array.from({length: 37}, () => 'ignore' as const)
    const child = spawn(process.execPath, [PROGRAM, 'init', '--dir', fixture.dir, ...LOCAL], {
      cwd: fixture.folder,
      env: {
        ...process.env,
        TRUSTADM_TOKEN: TOKEN,
        AWS_SECRET_ACCESS_KEY: 'hunter2',
        NODE_OPTIONS: `${onEtcd.NODE_OPTIONS ?? ''} --no-warnings`.trim(),
        HTTPS_PROXY: 'http://127.0.0.1:1',
      },
      stdio: ['ignore', 'ignore', 'ignore', ...gap, foreign.fd],
    })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    await foreign.close()
    assert.equal(code, 0)
    const server = await fixture.serverPid()
    const status = await readFile(`/proc/${server}/status`, 'utf8')
    const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1])
    // The shell that starts it again after a crash is as clean as the server.
    processes = parent > 1 ? [server, parent] : [server]
  })
  after(() => fixture.remove())

  it('has nothing of the environment of whoever started it but what it needs', async () => {
    for (const pid of processes) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
      const names = environment.split('\0').map((one) => one.split('=')[0] ?? '')
      const allowed =
        /^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|UV_THREADPOOL_SIZE|NODE_OPTIONS|MALLOC_\w+|PWD|OLDPWD|_|SHLVL|)$/
      assert.deepEqual(
        names.filter((name) => !allowed.test(name)),
        [],
      )
      assert.ok(!environment.includes('--no-warnings'))
      assert.ok(!environment.includes('hunter2') && !environment.includes(TOKEN))
    }
  })

  it('works in its own folder', async () => {
    for (const pid of processes) {
      assert.equal(await readlink(`/proc/${pid}/cwd`), await realpath(fixture.dir))
    }
  })

  it('holds no file of whoever started it', async () => {
    for (const pid of processes) {
      const names = await readdir(`/proc/${pid}/fd`)
      const links = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ''))
      const files = (await Promise.all(links)).filter((path) => path.startsWith('/'))
      const own = await realpath(fixture.dir)
      const isOwn = (path: string) => path.startsWith(`${own}/`) || path.startsWith('/dev/')
      assert.deepEqual(
        files.filter((path) => !isOwn(path) && !path.startsWith('/proc/')),
        [],
      )
    }
  })
})
