import {spawnSync} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {PROGRAM, type Cluster} from '../test/helpers/cluster.ts'
import {Plane} from '../test/helpers/plane.ts'
import {countJoins} from './join-counts.ts'
import {joinRound, middleOf, targetOf, usage, type JoinRound, type JoinTarget} from './joining.ts'
import type {BareJoinOperations} from './processes/bare-join-server.ts'
import type {JoinLoadOperations} from './processes/join-load.ts'
import {Worker} from './processes/worker.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const CROWD = 1000
const ROUNDS = 3
const ALONE = 50
const SINGLE_ROUNDS = 9
const BARE = 'bare Node: handshake, JSON, one verify, one sign'

/** It alone would cost more than twice the start of Node. */
const {NODE_EXTRA_CA_CERTS: _, ...ENVIRONMENT} = process.env

type Load = Worker<JoinLoadOperations>

/** Machines that join the built program's own server, beside a server that does only what a join cannot do without. */
export async function benchJoins(): Promise<BenchRow[]> {
  const plane = await Plane.start()
  const bare = await Worker.start<BareJoinOperations>('bare-join-server')
  const load = await Worker.start<JoinLoadOperations>('join-load')
  try {
    const own = targetOf(plane)
    const port = await bare.call('start', undefined)
    const least = {pid: bare.pid, port, newToken: () => Promise.resolve('unused')}
    return [
      ...(await benchCrowds(load, own, least)),
      ...(await benchAlone(load, own, least)),
      ...(await countJoins(load, plane)),
      await benchProgram(plane.cluster),
    ]
  } finally {
    await load.stop()
    await bare.stop()
    await plane.stop()
  }
}

/** The two servers take turns, so that a busy moment of the machine hits both. */
async function benchCrowds(load: Load, own: JoinTarget, least: JoinTarget): Promise<BenchRow[]> {
  const joined: JoinRound[] = []
  const bare: JoinRound[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    joined.push(await joinRound(load, own, CROWD))
    bare.push(await joinRound(load, least, CROWD))
  }
  const beside = (pick: (round: JoinRound) => number) => [middleOf(bare, pick), BARE] as const
  const processor = ({processor}: JoinRound) => processor
  const perSecond = ({perSecond}: JoinRound) => perSecond
  const {resident, peak} = usage(own.pid)
  return [
    compared('server processor time a join', middleOf(joined, processor), 'ms', beside(processor), {
      atMost: 2.7,
    }),
    compared('joins a second', middleOf(joined, perSecond), 'per s', beside(perSecond), {
      // Of the bare server's rate: 280 beside 490.
      atLeast: 0.57,
    }),
    {
      name: `memory after ${CROWD * (ROUNDS + 1)} joins`,
      value: resident / 2 ** 20,
      unit: 'MiB',
      beside: `at most ${Math.round(peak / 2 ** 20)} MiB until then`,
      goal: {atMost: 200},
    },
  ]
}

/** How long a machine waits if no other joins at the same time. */
async function benchAlone(load: Load, own: JoinTarget, least: JoinTarget): Promise<BenchRow[]> {
  const {middle} = await joinRound(load, own, ALONE, 1)
  const bare = await joinRound(load, least, ALONE, 1)
  return [
    {
      name: 'one join after the other, p50',
      value: middle,
      unit: 'ms',
      beside: `bare Node: ${bare.middle.toFixed(1)} ms`,
      goal: {atMost: 8},
    },
  ]
}

/** One `trustadm join` by the built program, start and all. */
async function benchProgram({endpoint, token, caCertHashes}: Cluster): Promise<BenchRow> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const run = (args: readonly string[]) =>
    milliseconds(() => {
      const {status, stderr} = spawnSync(process.execPath, args, {
        env: {...ENVIRONMENT, TRUSTADM_TOKEN: token},
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
      return Promise.resolve()
    })
  try {
    const joins: number[] = []
    const starts: number[] = []
    for (let round = 0; round <= SINGLE_ROUNDS; round++) {
      const node = ['--node-name', `single-${round}`, '--dir', join(folder, `${round}`)]
      const pins = caCertHashes.flatMap((pin) => ['--discovery-token-ca-cert-hash', pin])
      starts.push(await run(['-e', '0']))
      joins.push(await run([PROGRAM, 'join', new URL(endpoint).host, '--quiet', ...pins, ...node]))
    }
    const started = median(starts.slice(1))
    return compared('"trustadm join"', median(joins.slice(1)), 'ms', [started, 'node -e 0'])
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}
