import {execFile} from 'node:child_process'
import {open, readFile, rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {ApiClient} from '../src/client/api-client.ts'
import {connect} from '../src/client/connect.ts'
import {sleep} from '../src/runtime.ts'
import {PROGRAM, startCluster} from '../test/helpers/cluster.ts'
import {inParallel} from '../test/helpers/in-parallel.ts'
import {usageOf} from '../test/helpers/usage.ts'
import {configMap} from './objects.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const OBJECTS = 100_000
const FILLERS = 64
const ROUNDS = 3
const MEBIBYTE = 2 ** 20
const STORED = 'stored'
const WRITTEN = 'written'
/** Milliseconds between two looks at the memory of the server. */
const LOOK = 20

const run = promisify(execFile)

interface Watched {
  took: number
  /** The longest that one write took, in milliseconds. */
  longest: number
  /** The most memory of the server, in bytes, without what it maps of the store. */
  memory: number
}

/** Does something while a client writes one object after the other, and sees how long that waits and what the server takes. */
async function whileWriting(
  {client, pid}: {client: ApiClient; pid: number},
  work: () => Promise<unknown>,
): Promise<Watched> {
  let isOver = false
  let longest = 0
  let memory = 0
  const writing = async () => {
    while (!isOver) {
      const name = `write-${Math.random().toString(36).slice(2)}`
      const {data} = configMap(WRITTEN, name)
      const write = () => client.configMaps.create({metadata: {namespace: WRITTEN, name}, data})
      longest = Math.max(longest, await milliseconds(write))
    }
  }
  const looking = async () => {
    while (!isOver) {
      memory = Math.max(memory, usageOf(pid)?.anonymous ?? Number.NaN)
      await sleep(LOOK)
    }
  }
  const beside = Promise.all([writing(), looking()])
  const took = await milliseconds(work)
  isOver = true
  await beside
  return {took, longest, memory}
}

async function fill(client: ApiClient): Promise<void> {
  for (const name of [STORED, WRITTEN]) await client.namespaces.create({metadata: {name}})
  const numbers = Array.from({length: OBJECTS}, (_, number) => number)
  await inParallel(
    numbers,
    async (number) => {
      await client.configMaps.create(configMap(STORED, number))
    },
    FILLERS,
  )
}

/** What the disk takes to write as many bytes, and to sync them. */
async function writeBytes(file: string, bytes: number): Promise<number> {
  const piece = Buffer.alloc(MEBIBYTE, 'x')
  const took = await milliseconds(async () => {
    const handle = await open(file, 'w')
    for (let left = bytes; left > 0; left -= piece.length) {
      await handle.write(piece.subarray(0, Math.min(left, piece.length)))
    }
    await handle.sync()
    await handle.close()
  })
  await rm(file)
  return took
}

/** A backup of many objects, made by the program from a server that is written to. */
export async function benchSnapshot(): Promise<BenchRow[]> {
  const {dir, kubeconfig, stop} = await startCluster()
  const client = await connect(kubeconfig)
  try {
    const {pid} = JSON.parse(await readFile(join(dir, 'server.json'), 'utf8')) as {pid: number}
    await fill(client)
    const file = join(dir, 'bench.backup')
    const save = () =>
      run(process.execPath, [PROGRAM, 'backup', file, '--objects-only', '--dir', dir])
    const saved: Watched[] = []
    const calm: Watched[] = []
    const disk: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const one = await whileWriting({client, pid}, save)
      saved.push(one)
      calm.push(await whileWriting({client, pid}, () => sleep(one.took)))
      disk.push(await writeBytes(join(dir, 'bench.bytes'), (await stat(file)).size))
    }
    const middle = (list: Watched[], of: keyof Watched) => median(list.map((one) => one[of]))
    const size = Math.round((await stat(file)).size / MEBIBYTE)
    return [
      compared(`a backup of ${OBJECTS} objects`, middle(saved, 'took'), 'ms', [
        median(disk),
        `writing and syncing as many bytes, ${size} MiB`,
      ]),
      compared('the longest that a writer waited', middle(saved, 'longest'), 'ms', [
        middle(calm, 'longest'),
        'the same writer for as long without a backup',
      ]),
      compared('memory of the server', middle(saved, 'memory') / MEBIBYTE, 'MiB', [
        middle(calm, 'memory') / MEBIBYTE,
        'without a backup',
      ]),
    ]
  } finally {
    await client.close()
    await stop()
  }
}
