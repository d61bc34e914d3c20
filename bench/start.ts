import {spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {compared, median, milliseconds, type BenchRow, type Goal} from './rows.ts'

const PROGRAM = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const ROUNDS = 25
const SERVER_ROUNDS = 9

/** It alone would cost more than twice the start of Node. */
const {NODE_EXTRA_CA_CERTS: _, ...ENVIRONMENT} = process.env

const BARE = ['-e', '0']

const COMMANDS: {args: string[]; goal?: Goal}[] = [
  {args: ['token', 'generate'], goal: {atMost: 1.5}},
  {args: ['version']},
  {args: ['autocomplete', 'bash']},
  {args: ['init', '--help']},
]

function runOnce(args: readonly string[]): void {
  const {status} = spawnSync(process.execPath, args, {env: ENVIRONMENT, stdio: 'ignore'})
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status ?? 'a signal'}`)
}

const timed = (args: readonly string[]): Promise<number> =>
  milliseconds(() => Promise.resolve(runOnce(args)))

async function untilReady(dir: string): Promise<number> {
  const args = [PROGRAM, 'serve', '--dir', dir]
  const start = performance.now()
  const server = spawn(process.execPath, args, {
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(server.stdout, 'data')
  const taken = performance.now() - start
  server.kill('SIGTERM')
  await once(server, 'exit')
  return taken
}

/** Takes the baseline in turns with what is measured, so that a busy moment of the machine hits both. */
async function besideNode(
  name: string,
  rounds: number,
  measure: () => Promise<number>,
  goal?: Goal,
): Promise<BenchRow> {
  const values: number[] = []
  const baselines: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    baselines.push(await timed(BARE))
    values.push(await measure())
  }
  return compared(name, median(values), 'ms', [median(baselines), 'node -e 0'], goal)
}

/** How long a person waits: the start of commands, and of a server until it is ready. */
export async function benchStart(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const dir = join(folder, 'plane')
  try {
    const rows: BenchRow[] = []
    for (const {args, goal} of COMMANDS) {
      rows.push(await besideNode(args.join(' '), ROUNDS, () => timed([PROGRAM, ...args]), goal))
    }
    const local = ['--bind-address', '127.0.0.1', '--apiserver-bind-port', '0']
    const skip = [
      '--skip-phases',
      'control-plane,namespaces,rbac,kubeadm-config,cluster-info,mark-control-plane,bootstrap-token',
    ]
    runOnce([PROGRAM, 'init', '--quiet', ...local, ...skip, '--dir', dir])
    await untilReady(dir)
    rows.push(
      await besideNode('serve until ready', SERVER_ROUNDS, () => untilReady(dir), {atMost: 7}),
    )
    return rows
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}
