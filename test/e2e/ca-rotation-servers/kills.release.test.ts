import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build} from 'esbuild'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {cutPower} from '../../helpers/power-cut.ts'
import {trustadm} from '../../helpers/program.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {SteadyClient} from './steady-client.ts'
import {accessTo, knownAs, requireSame} from './support.ts'

const SCRIPT = fileURLToPath(new URL('../crashing-ca-rotation.ts', import.meta.url))
/** Changes and requests of the command before it is killed: more each time. */
const STRIDE = 12
const MOST_RUNS = 40
const COME_BACK = 30_000

describeWithEtcd('a rotation of three servers in which all of them are killed', function () {
  this.timeout(1_200_000)
  let etcd: EtcdCluster
  let several: SeveralServers
  let script: string

  before(async () => {
    etcd = await startEtcd()
    several = await startSeveral(3, ['--etcd-servers', etcd.servers.join(',')])
    script = join(several.folder, 'rotate.mjs')
    const js =
      "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url)"
    const how = {bundle: true, platform: 'node', format: 'esm', banner: {js}} as const
    await build({entryPoints: [SCRIPT], outfile: script, ...how})
  })
  after(async () => {
    await several.stop()
    await etcd.stop()
  })

  const machine = (index: number) => several.machines[index % 3] ?? assert.fail()
  const kill = async (index: number) => {
    cutPower(machine(index).dir)
    // One that stays off is waited for until its Lease was silent for 40 s.
    await trustadm('start', '--dir', machine(index).dir)
  }
  /** Each server comes back, and accepts the administrators of all machines as they accept it. */
  const requireAccepted = async (what: string) => {
    // Nothing restarts a server that was killed by hand.
    for (const {dir} of several.machines) await trustadm('start', '--dir', dir)
    for (const server of several.machines) {
      for (const user of several.machines) {
        const end = performance.now() + COME_BACK
        let known = ''
        while (known !== 'kubernetes-admin') {
          known = await accessTo(server, user).then(knownAs).catch(String)
          assert.ok(performance.now() < end, `${what}: ${server.name}, ${user.name}: ${known}`)
        }
      }
    }
  }
  /** What a run says whose predecessor was killed after its last change. */
  const OVER = /there is no rotation to (?:complete|abort)|a rotation is in progress/
  /** Whether the action is done; if not, the command was killed, or gave up waiting for a server. */
  const attempt = (action: string, killAt: number): Promise<string> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [script, machine(0).dir, action, String(killAt)],
        (error, _, text) => resolve(error ? (error.signal ?? text) : 'done'),
      )
    })
  const rotate = async (action: string) => {
    const ends: string[] = []
    for (let run = 1; ends.at(-1) !== 'done'; run++) {
      assert.ok(run < MOST_RUNS, ends.join('\n'))
      // Before, during or after what it has to follow.
      const killing = new Promise((resolve) => setTimeout(resolve, Math.random() * 4000)).then(() =>
        kill(run),
      )
      const end = await attempt(action, run * STRIDE)
      ends.push(ends.at(-1) === 'SIGKILL' && OVER.test(end) ? 'done' : end)
      await killing
      await requireAccepted(`${action}, run ${run}`)
    }
    const kills = ends.filter((end) => end === 'SIGKILL').length
    assert.ok(kills > 2, `${action}: killed ${kills} times, in ${ends.length} runs`)
  }

  it('is finished by the next run, and no server ever refuses the others or a client', async () => {
    const steady = new SteadyClient(several.machines)
    try {
      await rotate('start')
      await rotate('complete')
      await requireSame(several.machines)
      await rotate('start')
      await rotate('abort')
      await requireSame(several.machines)
    } finally {
      await steady.stop()
    }
    assert.deepEqual(steady.failures, [])
    // Whether a kill meets one of its requests is chance.
    assert.ok(steady.answered > 100, `${steady.answered} answered, ${steady.cut} cut`)
  })
})
