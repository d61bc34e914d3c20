import {randomBytes, randomUUID} from 'node:crypto'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openLmdbStorage} from '../src/storage/lmdb.ts'
import {joined} from '../test/helpers/joined.ts'
import {Plane} from '../test/helpers/plane.ts'
import {atRest, joinRound, middleOf, targetOf, type JoinRound} from './joining.ts'
import type {JoinLoadOperations} from './processes/join-load.ts'
import {Worker} from './processes/worker.ts'
import {compared, type BenchRow} from './rows.ts'

const SIZES = [0, 10_000, 50_000]
const ROUNDS = 5
const CROWD = 256
const BATCH = 2000
/** Nodes may use a quarter of it, which of the default is too little for the most of them. */
const QUOTA = String(2 * 2 ** 30)
/** The machine whose traces in the store all others are copies of. */
const MODEL = 'model-of-nodes'

interface Grown {
  size: number
  plane: Plane
  rounds: JoinRound[]
}

/** Joins when no and when many nodes have joined before; the servers take turns. */
export async function benchJoinedBefore(): Promise<BenchRow[]> {
  const load = await Worker.start<JoinLoadOperations>('join-load')
  const grown: Grown[] = []
  try {
    for (const size of SIZES) {
      const plane = await Plane.start('--quota-backend-bytes', QUOTA)
      grown.push({size, plane, rounds: []})
      await grow(plane, size)
    }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const {plane, rounds} of grown)
        rounds.push(await joinRound(load, targetOf(plane), CROWD))
    }
    return [
      ...rowsOf(grown, 'server processor time a join', 'ms', ({processor}) => processor),
      ...rowsOf(grown, 'joins a second', 'per s', ({perSecond}) => perSecond),
    ]
  } finally {
    await load.stop()
    for (const {plane} of grown) await plane.stop()
  }
}

function rowsOf(
  grown: readonly Grown[],
  what: string,
  unit: string,
  pick: (round: JoinRound) => number,
): BenchRow[] {
  const figures = grown.map(({size, rounds}) => ({size, figure: middleOf(rounds, pick)}))
  const [none, ...others] = figures
  if (none === undefined) return []
  const goal = unit === 'ms' ? {atMost: 1.2} : {atLeast: 0.83}
  return others.map(({size, figure}) =>
    compared(
      `${what}, ${size.toLocaleString('en')} nodes before`,
      figure,
      unit,
      [none.figure, 'none before'],
      goal,
    ),
  )
}

/** Every server is started again, also the one that gets no nodes: all are measured in the same state. */
async function grow(plane: Plane, size: number): Promise<void> {
  const {cluster} = plane
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  await joined(cluster, cluster.token, folder, MODEL)
  await rm(folder, {recursive: true, force: true})
  // The controllers complete the Node after the join.
  await atRest(plane.pid)
  await plane.restart(() => multiply(cluster.dir, size))
  await atRest(plane.pid)
}

/**
 * Writes what a join leaves behind for good, a Node and the record of its name, for so many machines. They are as real as those of
 * machines that joined: copies of what the server itself has stored for one, each with a name, a uid, a key and an address of
 * its own. A join's request is cleaned away after an hour, so that there is none of those that joined long before.
 */
async function multiply(dir: string, size: number): Promise<void> {
  const storage = await openLmdbStorage(dir)
  try {
    const models = await Promise.all(
      [
        `/registry/core/nodes/${MODEL}`,
        `/registry/core/configmaps/trustadm-system/trustadm-node.${MODEL}`,
      ].map(async (key) => {
        const entry = await storage.get(key)
        if (entry === undefined) throw new Error(`a join has left no ${key}`)
        return {key, text: Buffer.from(entry.value).toString()}
      }),
    )
    for (let from = 0; from < size; from += BATCH) {
      const numbers = Array.from({length: Math.min(BATCH, size - from)}, (_, index) => from + index)
      await Promise.all(
        numbers.flatMap((number) =>
          models.map(({key, text}) =>
            storage.create(key.replace(MODEL, nameOf(number)), Buffer.from(copyOf(text, number))),
          ),
        ),
      )
    }
  } finally {
    await storage.close()
  }
}

const nameOf = (number: number) => `before-${number}`

const copyOf = (text: string, number: number) =>
  text
    .replaceAll(MODEL, nameOf(number))
    .replace(/"uid":"[^"]+"/, `"uid":"${randomUUID()}"`)
    .replace(/sha256:[0-9a-f]{64}/, `sha256:${randomBytes(32).toString('hex')}`)
    .replace('127.0.0.1', `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`)
