import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {compared, type BenchRow} from './rows.ts'

const PROGRAM = fileURLToPath(new URL('../bin/run.js', import.meta.url))
/** What the start has left behind is gone by then. */
const SETTLED = 5000
const MIB = 1024

const run = promisify(execFile)

/** Resident memory of the built program's idle server, beside a Node that does nothing. */
export async function benchMemory(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const started: ChildProcess[] = []
  try {
    const dir = join(folder, 'plane')
    await run(process.execPath, [PROGRAM, 'init', ...INIT_FILES, '--dir', dir])
    const server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    started.push(server)
    await once(server.stdout, 'data')
    const nothing = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1e6)'])
    started.push(nothing)
    await sleep(SETTLED)
    const baseline = await mebibytes(nothing)
    return [
      compared('idle server (aim: 100)', await mebibytes(server), 'MiB', [
        baseline,
        'a Node that does nothing',
      ]),
    ]
  } finally {
    await Promise.all(started.map(end))
    await rm(folder, {recursive: true, force: true})
  }
}

/** Everything that init writes, without starting a server. */
const INIT_FILES = [
  '--quiet',
  '--bind-address=127.0.0.1',
  '--apiserver-bind-port=0',
  '--skip-phases=control-plane,namespaces,rbac,kubeadm-config,cluster-info,mark-control-plane,bootstrap-token',
]

async function mebibytes({pid}: ChildProcess): Promise<number> {
  const {stdout} = await run('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) / MIB
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
