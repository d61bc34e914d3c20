import {setMaxListeners} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import {isRunning} from '../../test/helpers/cluster.ts'
import {startEtcd, type EtcdCluster} from '../../test/helpers/etcd.ts'
import {cutPower} from '../../test/helpers/power-cut.ts'
import {startSeveral, type SeveralServers} from '../../test/helpers/several-servers.ts'
import {checkListing, checkRegister} from './check-register.ts'
import {checkWatches, timelinesOf} from './check-watches.ts'
import {FAULTS, strike, type Recovery} from './faults.ts'
import {History} from './history.ts'
import {Races} from './races.ts'
import {Server} from './server.ts'
import {Watcher} from './watchers.ts'
import {KEYS, NAMESPACE, read, write} from './writers.ts'

export interface Options {
  kills: number
  /** Of `FAULTS`; by default all. */
  faults?: readonly string[]
  signal: AbortSignal
  tell?: (line: string) => void
}

/** What a run has found. */
export interface Findings {
  seconds: number
  recoveries: Recovery[]
  reads: number
  acknowledged: number
  refused: number
  /** Writes without an answer. */
  unknown: number
  events: number
  watches: {name: string; breaks: number}[]
  races: number
  issued: number
  /** Certificates that are in a log but were never published, so that the request was signed again, or stayed open. */
  unpublished: number
  /** Everything that may not happen. */
  faults: string[]
}

const SERVERS = 3
const WRITERS = 2
const CATCH_UP = 90_000
/** etcd's own defaults: with the shorter ones of other tests, members on a busy machine elect all the time. */
const ELECTIONS = ['--heartbeat-interval', '100', '--election-timeout', '1000']

/** Three servers on three members of etcd; clients read, write, watch and race for names while servers and members are killed and stopped. */
export async function linearizability(options: Options): Promise<Findings> {
  const etcd = await startEtcd({members: 3, args: ELECTIONS})
  try {
    const several = await startSeveral(SERVERS, ['--etcd-servers', etcd.servers.join(',')])
    try {
      return await withServers(several, etcd, options)
    } finally {
      await several.stop()
    }
  } finally {
    await etcd.stop()
  }
}

async function withServers(
  {machines, first}: SeveralServers,
  etcd: EtcdCluster,
  options: Options,
): Promise<Findings> {
  const servers: Server[] = []
  try {
    for (const {name, dir} of machines) {
      const server = await Server.of(name, dir, first.token ?? '')
      servers.push(server)
      // Those of the commands run in the background: here they are children.
      const pid = cutPower(dir)
      // It keeps its lock until it is gone.
      while (isRunning(pid)) await sleep(20)
      await server.start()
    }
    return await run(servers, etcd, options)
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
}

async function run(
  servers: readonly Server[],
  etcd: EtcdCluster,
  {kills, faults: kinds = FAULTS, signal, tell = () => undefined}: Options,
): Promise<Findings> {
  const [{admin}] = servers as [Server, ...Server[]]
  await admin.namespaces.create({metadata: {name: NAMESPACE}})
  const {metadata} = await admin.configMaps.list({namespace: NAMESPACE})
  const from = Number(metadata.resourceVersion)
  const watchers = [
    ...servers.map((server) => new Watcher(`the watch at ${server.name}`, [server], from, 600)),
    new Watcher('the watch that moves', servers, from, 3),
  ]
  const history = new History()
  const races = new Races(servers)
  const writing = new AbortController()
  const watching = new AbortController()
  setMaxListeners(0, writing.signal, watching.signal, signal)
  const stop = () => {
    writing.abort(new Error('over'))
    watching.abort(new Error('over'))
  }
  signal.addEventListener('abort', stop)
  const start = performance.now()
  const following = watchers.map((watcher) => watcher.follow(watching.signal))
  const busy = servers.flatMap((server, index) =>
    Array.from({length: WRITERS}, (_, number) =>
      write(server, `w${index}${number}`, history, writing.signal),
    ),
  )
  busy.push(races.hold(writing.signal))
  try {
    const recoveries = await strike({kills, faults: kinds}, {servers, etcd, races}, tell, signal)
    writing.abort(new Error('over'))
    await Promise.all(busy)
    const last = await readEverywhere(servers, history)
    const late = await caughtUp(watchers, last, signal)
    watching.abort(new Error('over'))
    await Promise.all(following)
    const issued = await races.check(admin)
    const seconds = (performance.now() - start) / 1000
    const faults = [...late, ...issued.faults]
    return {
      ...judge(history, watchers, faults),
      ...issued,
      seconds,
      recoveries,
      races: races.decided.length,
      faults,
    }
  } finally {
    stop()
    signal.removeEventListener('abort', stop)
    await Promise.all([...busy, ...following])
  }
}

/** Every key at every server, when all is quiet. Gives the newest revision. */
async function readEverywhere(servers: readonly Server[], history: History): Promise<number> {
  let newest = 0
  for (const server of servers)
    for (const key of KEYS) {
      const found = await read(server, key, history)
      newest = Math.max(newest, Number(found?.metadata.resourceVersion ?? 0))
    }
  return newest
}

/** Every watcher sees the end, although nobody writes any more. */
async function caughtUp(
  watchers: readonly Watcher[],
  last: number,
  signal: AbortSignal,
): Promise<string[]> {
  const deadline = performance.now() + CATCH_UP
  const behind = () => watchers.filter(({position}) => position < last)
  while (behind().length > 0 && performance.now() < deadline) await sleep(50, signal)
  return behind().map(({name, position}) => `${name} stays at ${position}, before ${last}`)
}

function judge(history: History, watchers: readonly Watcher[], faults: string[]) {
  const {operations, listings} = history
  const {events, faults: ofWatches} = checkWatches(watchers.flatMap(({segments}) => segments))
  const timelines = timelinesOf(events, KEYS)
  const of = (wanted: string) => operations.filter(({key}) => key === wanted)
  faults.push(
    ...ofWatches,
    ...listings.flatMap((listing) => checkListing(listing, timelines)),
    ...KEYS.flatMap((key) => checkRegister(key, of(key), timelines.get(key) ?? [])),
  )
  const writes = operations.filter((one) => one.kind === 'write')
  const count = (wanted: string) => writes.filter(({outcome}) => outcome === wanted).length
  return {
    reads: operations.length - writes.length,
    acknowledged: count('acknowledged'),
    refused: count('refused'),
    unknown: count('unknown'),
    events: events.length,
    watches: watchers.map(({name, breaks}) => ({name, breaks})),
  }
}
