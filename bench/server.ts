import {configMap, configMapsPath} from './objects.ts'
import type {ApiServerOperations} from './processes/api-server.ts'
import type {BareOperations} from './processes/bare-server.ts'
import {Worker} from './processes/worker.ts'
import type {Load, LoadOperations} from './processes/load.ts'
import type {RawRequest} from './processes/raw-client.ts'
import type {Target, Usage} from './processes/target.ts'
import {compared, median, type BenchRow} from './rows.ts'

const OBJECTS = 500
const CONNECTIONS = 32
const ROUNDS = 5
const FILLED = 'filled'
const WRITTEN = 'written'

/** One kind of request: how it is put to the server, and how many make a round. */
interface Kind {
  name: string
  request: RawRequest
  count: number
  /** Requests for the same number name the same object. */
  numbers?: number
  http2?: boolean
}

const KINDS: Kind[] = [
  {
    name: 'gets',
    request: {method: 'GET', path: `${configMapsPath(FILLED)}/object-{n}`},
    count: 6000,
    numbers: OBJECTS,
  },
  {
    name: 'gets over HTTP/2',
    request: {method: 'GET', path: `${configMapsPath(FILLED)}/object-7`},
    count: 4000,
    http2: true,
  },
  {
    name: 'creates',
    request: {
      method: 'POST',
      path: configMapsPath(WRITTEN),
      body: JSON.stringify(configMap(WRITTEN, '{n}')),
    },
    count: 3000,
  },
  {
    name: `lists of ${OBJECTS} objects`,
    request: {method: 'GET', path: `${configMapsPath(FILLED)}?limit=${OBJECTS}`},
    count: 150,
  },
]

interface Plant {
  server: Worker<ApiServerOperations>
  target: Target
  bare: Worker<BareOperations>
  bareTarget: Target
  load: Worker<LoadOperations>
}

/** Requests over HTTPS, beside a server that only answers fixed bytes of the same size, each in a process of its own. */
export async function benchServer(): Promise<BenchRow[]> {
  const plant = await build()
  try {
    const rows: BenchRow[] = []
    for (const kind of KINDS) rows.push(...(await benchKind(plant, kind)))
    return rows
  } finally {
    await plant.load.stop()
    await plant.bare.stop()
    await plant.server.call('stop', undefined).finally(() => plant.server.stop())
  }
}

async function build(): Promise<Plant> {
  const server = await Worker.start<ApiServerOperations>('api-server')
  const bare = await Worker.start<BareOperations>('bare-server')
  const load = await Worker.start<LoadOperations>('load')
  const target = await server.call('start', undefined)
  await server.call('fill', {namespace: FILLED, from: 0, to: OBJECTS})
  await server.call('fill', {namespace: WRITTEN, from: 0, to: 0})
  const sizes: Record<string, number> = {}
  for (const kind of KINDS)
    sizes[barePath(kind)] = await load.call('sizeOf', {target, request: kind.request})
  const port = await bare.call('start', {tls: target, sizes})
  return {server, target, bare, bareTarget: {...target, port}, load}
}

const barePath = ({name}: Kind) => `/${encodeURIComponent(name)}`

interface Round {
  perSecond: number
  /** Microseconds of the server's processor a request. */
  cpu: number
}

async function benchKind(plant: Plant, kind: Kind): Promise<BenchRow[]> {
  const {server, bare, target, bareTarget} = plant
  const own: Round[] = []
  const least: Round[] = []
  const commits: number[] = []
  // The first round of each warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const load = {...kind, target, connections: CONNECTIONS, first: firstOf(kind, round)}
    own.push(await measure(plant, kind, load, () => server.call('usage', undefined)))
    const bareLoad = {...load, target: bareTarget, request: bareRequest(kind)}
    least.push(await measure(plant, kind, bareLoad, () => bare.call('usage', undefined)))
    if (kind.request.method === 'POST') commits.push(await commitRate(plant, kind))
  }
  const rate = median(own.slice(1).map(({perSecond}) => perSecond))
  const besides = (pick: (round: Round) => number) =>
    [median(least.slice(1).map(pick)), 'bare TLS server, same bytes'] as const
  const rows = [
    compared(
      kind.name,
      rate,
      'per s',
      besides(({perSecond}) => perSecond),
    ),
    compared(
      `${kind.name}: processor time of the server`,
      median(own.slice(1).map(({cpu}) => cpu)),
      'µs each',
      besides(({cpu}) => cpu),
    ),
  ]
  if (commits.length > 0) {
    const commit = median(commits.slice(1))
    rows.push(
      compared(`${kind.name}, durable`, rate, 'per s', [commit, 'commits of the store alone']),
    )
  }
  return rows
}

/** Every create makes an object of its own; number 0 was made to see the answer's size. */
const firstOf = ({numbers, count}: Kind, round: number) =>
  numbers === undefined ? 1 + round * count : 0

const bareRequest = (kind: Kind): RawRequest => ({...kind.request, path: barePath(kind)})

async function measure(
  {load: sender}: Plant,
  {http2 = false}: Kind,
  load: Load,
  usage: () => Promise<Usage>,
): Promise<Round> {
  const before = await usage()
  const took = await sender.call(http2 ? 'sendMultiplexed' : 'send', load)
  const after = await usage()
  return {perSecond: (load.count / took) * 1000, cpu: (after.cpu - before.cpu) / load.count}
}

async function commitRate({server}: Plant, {count, request}: Kind): Promise<number> {
  const size = request.body?.length ?? 0
  return (count / (await server.call('commit', {count, size, writers: CONNECTIONS}))) * 1000
}
