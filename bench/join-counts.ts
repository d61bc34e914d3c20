import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, join} from 'node:path'
import {connect} from '../src/client/connect.ts'
import type {Plane} from '../test/helpers/plane.ts'
import {canInject} from '../test/helpers/strace.ts'
import {joinRound, targetOf} from './joining.ts'
import type {JoinLoadOperations} from './processes/join-load.ts'
import type {Worker} from './processes/worker.ts'
import type {BenchRow} from './rows.ts'

const JOINS = 50
const STORE_FILE = 'data.mdb'

/** What one join makes the server do, counted while machines join one after the other: then no join shares a commit with another. */
export async function countJoins(
  load: Worker<JoinLoadOperations>,
  plane: Plane,
): Promise<BenchRow[]> {
  const joins = () => joinRound(load, targetOf(plane), JOINS, 1)
  const calls = await callsDuring(plane, joins)
  const rows = [countRow('API calls a join', calls)]
  if (!canInject()) return rows
  const syncs = await syncsDuring(plane, joins)
  const commits = new Map([...syncs].filter(([file]) => file === STORE_FILE))
  return [...rows, countRow('store commits a join', commits), countRow('fsyncs a join', syncs)]
}

function countRow(name: string, counts: ReadonlyMap<string, number>): BenchRow {
  const aJoin = [...counts].map(([what, count]) => ({what, each: count / JOINS}))
  return {
    name,
    value: aJoin.reduce((sum, {each}) => sum + each, 0),
    unit: 'each',
    beside: aJoin
      // What happens less often belongs to no join.
      .filter(({each}) => each >= 0.1)
      .sort((one, other) => other.each - one.each)
      .map(({what, each}) => `${Number(each.toFixed(1))} ${what}`)
      .join(', '),
  }
}

/** What the server itself counts: requests from outside, and those of its controllers. */
async function callsDuring(
  {cluster}: Plane,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const client = await connect(cluster.kubeconfig)
  try {
    const before = await client.raw('/metrics')
    await work()
    return callsAdded(before, await client.raw('/metrics'))
  } finally {
    await client.close()
  }
}

/** The requests for objects between two readings of the metrics, by verb and resource. */
export function callsAdded(before: string, after: string): Map<string, number> {
  const earlier = readCalls(before)
  return new Map(
    [...readCalls(after)]
      .map(([what, count]) => [what, count - (earlier.get(what) ?? 0)] as const)
      .filter(([, added]) => added > 0),
  )
}

const CALLS = /^apiserver_request_total\{(.*)\} (\d+)$/gm

function readCalls(metrics: string): Map<string, number> {
  const calls = new Map<string, number>()
  for (const [, labels = '', value] of metrics.matchAll(CALLS)) {
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    const resource = [label('resource'), label('subresource')].filter(Boolean).join('/')
    if (resource === '') continue
    const call = `${label('verb')} ${resource}`
    calls.set(call, (calls.get(call) ?? 0) + Number(value))
  }
  return calls
}

async function syncsDuring(
  {pid}: Plane,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const output = join(folder, 'calls')
  const args = ['-f', '-y', '-e', 'trace=fsync,fdatasync,write', '-o', output, '-p', String(pid)]
  const strace = spawn('strace', args, {stdio: ['ignore', 'ignore', 'pipe']})
  try {
    // It says so once it is attached.
    await once(strace.stderr, 'data')
    await work()
    const ended = once(strace, 'exit')
    strace.kill('SIGINT')
    await ended
    return syncsIn(await readFile(output, 'utf8'))
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** A write to the issuance log returns once it is on the disk. */
const SYNCS = /\b(?:f(?:data)?sync\(\d+<([^>]*)>|write\(\d+<([^>]*\/issuance\.log)>)/g

/** The calls in strace's output that wait for the disk, by the names of their files. LMDB makes one a commit. */
export function syncsIn(output: string): Map<string, number> {
  const syncs = new Map<string, number>()
  for (const [, synced, written = ''] of output.matchAll(SYNCS)) {
    const file = basename(synced ?? written)
    syncs.set(file, (syncs.get(file) ?? 0) + 1)
  }
  return syncs
}
