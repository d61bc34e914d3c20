import {execFileSync} from 'node:child_process'
import {monitorEventLoopDelay} from 'node:perf_hooks'
import {setMaxListeners} from 'node:events'
import {existsSync, readdirSync, writeFileSync} from 'node:fs'
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises'
import {constants, tmpdir} from 'node:os'
import {join} from 'node:path'
import type {ApiClient} from '../src/client/api-client.ts'
import {connect} from '../src/client/connect.ts'
import {sleep} from '../src/runtime.ts'
import {trustadm} from '../test/helpers/program.ts'
import {Generators} from './generators.ts'
import {gatherHoldings} from './holdings.ts'
import {administer} from './honest/administrator.ts'
import {lookByKubectl} from './honest/kubectl.ts'
import {Ledger} from './honest/ledger.ts'
import {joinMachines} from './honest/machines.ts'
import {Waits} from './honest/waits.ts'
import {watchOver} from './honest/watcher.ts'
import {joined} from '../test/helpers/joined.ts'
import {Plane} from '../test/helpers/plane.ts'
import {usageOf, type Usage} from '../test/helpers/usage.ts'
import {HONEST_DESCRIPTORS, type Findings} from './verdict.ts'

export interface SoakOptions {
  seconds: number
  /** The server has one core, and the attackers another one. */
  pinned?: boolean
  attacks: readonly string[]
  /** Ends the run early; what it made is removed all the same. */
  signal: AbortSignal
  tell?: (line: string) => void
}

const NAMESPACE = 'honest'
const VICTIMS = ['victim-0', 'victim-1']
const SAMPLE = 500
const DESCRIPTORS = 640
const RELEASE_PATIENCE = 60_000
const SHARED_MEMORY = '/dev/shm'

/** Floods a server of its own beside honest clients, kills it, starts it again, and looks what is left. */
export async function soak(options: SoakOptions): Promise<Findings> {
  const folder = await mkdtemp(join(diskOfOthers(), 'trustadm-soak-'))
  const plane = await Plane.start()
  const admin = await connect(plane.cluster.kubeconfig, {retry: {attempts: 1}})
  try {
    return await run(plane, admin, folder, options)
  } finally {
    await admin.close()
    await plane.stop()
    await rm(folder, {recursive: true, force: true})
  }
}

async function run(
  plane: Plane,
  admin: ApiClient,
  folder: string,
  {seconds, attacks, pinned = false, signal, tell = () => undefined}: SoakOptions,
): Promise<Findings> {
  const {cluster} = plane
  await admin.namespaces.create({metadata: {name: NAMESPACE}})
  for (const victim of VICTIMS) await joined(cluster, cluster.token, folder, victim)
  const before = descriptorsOf(plane.pid)
  limitDescriptors(plane.pid)
  const holdings = await gatherHoldings(cluster, admin, join(folder, 'attackers'), VICTIMS)
  const ledger = new Ledger(NAMESPACE)
  const waits = new Waits()
  const faults: string[] = []
  for (const victim of VICTIMS) ledger.joined(victim)

  const generators = await Generators.prepare(holdings, attacks, signal)
  tell(`${attacks.length} attacks for ${seconds} s on process ${plane.pid}`)
  prefer('self', plane.pid)
  if (pinned) {
    pin(0, plane.pid)
    for (const pid of generators.pids) pin(1, pid)
  }
  generators.start()
  // Not AbortSignal.any with a timeout: in Node 20 that may be collected before it fires.
  const end = new AbortController()
  const stop = () => end.abort()
  const over = end.signal
  setMaxListeners(0, over)
  const timer = setTimeout(stop, seconds * 1000)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const delay = monitorEventLoopDelay({resolution: 10})
  delay.enable()
  const usage = new UsageLog(plane.pid)
  const start = performance.now()
  try {
    const results = await Promise.allSettled([
      administer(admin, ledger, waits, over),
      watchOver(admin, NAMESPACE, waits, over),
      joinMachines(cluster, {folder, ca: holdings.ca}, {ledger, waits}, over),
      lookByKubectl(cluster.kubeconfig, NAMESPACE, waits, over),
      usage.follow(over, stop),
    ])
    for (const result of results)
      if (result.status === 'rejected' && result.reason !== over.reason)
        faults.push(String(result.reason))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    delay.disable()
    const spent = generators.pids.reduce((sum, pid) => sum + (usageOf(pid)?.processor ?? 0), 0)
    usage.generators = spent
    await generators.stop()
  }
  const took = (performance.now() - start) / 1000
  signal.throwIfAborted()
  if (!plane.isRunning) faults.push('the server ended by itself')
  const descriptors = {before, after: await descriptorsAfter(plane.pid, before, tell)}
  const {lost, restart} = await lookAfter(plane, admin, ledger, faults, tell)
  const {peak, anonymous, processor, waited} = usage
  return {
    seconds: took,
    attacks: generators.tallies,
    waits: waits.summaries,
    refusals: waits.reasons,
    writes: ledger.writes,
    lost,
    peak,
    anonymous,
    processor,
    waited,
    generators: usage.generators,
    ownDelay: delay.max / 1e6,
    restart,
    descriptors,
    faults,
  }
}

/** Fewer than connections would take. */
function limitDescriptors(pid: number): void {
  try {
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${DESCRIPTORS}`])
  } catch {
    // Without it the limit of connections counts alone.
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Once the attackers are gone, so are their connections: at once, or when a time limit of the server has passed. */
async function descriptorsAfter(
  pid: number,
  before: number,
  tell: (line: string) => void,
): Promise<number> {
  tell('waiting until the server has let go of the attackers')
  const end = performance.now() + RELEASE_PATIENCE
  while (descriptorsOf(pid) > before + HONEST_DESCRIPTORS && performance.now() < end)
    await sleep(SAMPLE)
  return descriptorsOf(pid)
}

/** Honest clients have disks of their own: here they must not wait for the one that the server writes to. */
const diskOfOthers = () => (existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir())

/** Attackers have machines of their own: here neither the server nor honest clients must wait for a processor that they use. */
function prefer(...processes: (number | 'self')[]): void {
  for (const one of processes) {
    try {
      writeFileSync(`/proc/${one}/autogroup`, String(constants.priority.PRIORITY_HIGH))
    } catch {
      // Only root may, and only where sessions have a priority. The report says by how much the process was late.
    }
  }
}

/** The server and attackers have a core each, where there are two and `taskset`. */
function pin(core: number, pid: number): void {
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)])
  } catch {
    // Then they share what there is.
  }
}

/** Of the administrator, who has made the namespace before the flood began. */
async function firstAuditLine(dir: string): Promise<void> {
  const logs = join(dir, 'logs')
  for (const file of await readdir(logs)) {
    if (!/^audit(-\d.*)?\.log$/.test(file)) continue
    const text = await readFile(join(logs, file), 'utf8')
    if (text.includes('"requestURI":"/api/v1/namespaces","verb":"create"')) return
  }
  throw new Error('the audit log has lost the first line of the administrator')
}

/** What is there after the flood, and what after a power cut. */
async function lookAfter(
  plane: Plane,
  admin: ApiClient,
  ledger: Ledger,
  faults: string[],
  tell: (line: string) => void,
): Promise<Pick<Findings, 'lost' | 'restart'>> {
  tell('the flood is over; every write is looked for, before and after a kill')
  const lost: string[] = []
  let restart: number | undefined
  const look = async (what: () => Promise<void>) => {
    await what().catch((error: unknown) => faults.push(String(error)))
  }
  if (plane.isRunning) await look(async () => void lost.push(...(await ledger.missing(admin))))
  await look(async () => void (restart = await plane.restart()))
  await look(async () => void lost.push(...(await ledger.missing(admin))))
  await look(() => firstAuditLine(plane.cluster.dir))
  const log = await trustadm('certificate', 'log', '--verify', '--dir', plane.cluster.dir)
  if (log.code !== 0) faults.push(`the issuance log does not verify: ${log.stderr}`)
  return {lost: [...new Set(lost)], restart}
}

/** What the server uses, from beginning to end. */
class UsageLog {
  readonly #pid: number
  #first: Usage | undefined
  #last: Usage | undefined
  anonymous = 0
  generators = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  get peak(): number {
    return this.#last?.peak ?? 0
  }

  get processor(): number {
    return (this.#last?.processor ?? 0) - (this.#first?.processor ?? 0)
  }

  get waited(): number {
    return (this.#last?.waited ?? 0) - (this.#first?.waited ?? 0)
  }

  /** Ends everything once the server is gone. */
  async follow(over: AbortSignal, end: () => void): Promise<void> {
    while (!over.aborted) {
      const usage = usageOf(this.#pid)
      if (usage === undefined) {
        end()
        return
      }
      this.#first ??= usage
      this.#last = usage
      this.anonymous = Math.max(this.anonymous, usage.anonymous)
      await sleep(SAMPLE, over)
    }
  }
}
