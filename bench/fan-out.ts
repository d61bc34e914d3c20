import {configMap, configMapsPath} from './objects.ts'
import type {ApiServerOperations} from './processes/api-server.ts'
import type {BareOperations} from './processes/bare-server.ts'
import {Worker} from './processes/worker.ts'
import type {LoadOperations} from './processes/load.ts'
import type {Target, Usage} from './processes/target.ts'
import {compared, median, type BenchRow} from './rows.ts'

const WATCHERS = 1000
const EVENTS = 100
const ROUNDS = 5
const WRITERS = 8
const NAMESPACE = 'watched'

interface Round {
  perSecond: number
  /** Microseconds of the server's processor an event and watcher. */
  cpu: number
}

/** Creates seen by a thousand watchers, beside the writing of as many bytes to a thousand bare TLS answers. */
export async function benchFanOut(): Promise<BenchRow[]> {
  const server = await Worker.start<ApiServerOperations>('api-server')
  const bare = await Worker.start<BareOperations>('bare-server')
  const load = await Worker.start<LoadOperations>('load')
  try {
    const target = await server.call('start', undefined)
    await server.call('fill', {namespace: NAMESPACE, from: 0, to: 1})
    const size = await load.call('sizeOf', {
      target,
      request: {method: 'GET', path: `${configMapsPath(NAMESPACE)}/object-0`},
    })
    const idle = await server.call('usage', undefined)
    await load.call('watch', watching(target))
    const watched = await server.call('usage', undefined)
    const own = await rounds(load, server, (round) => createAll(load, target, round))
    await load.call('unwatch', undefined)

    const port = await bare.call('start', {tls: target, sizes: {}})
    await load.call('watch', watching({...target, port}))
    const frame = size + FRAME.length
    const least = await rounds(load, bare, () =>
      bare.call('broadcast', {size: frame, times: EVENTS}),
    )
    return [...rowsOf(own, least), memoryRow(idle, watched)]
  } finally {
    await load.stop()
    await bare.stop()
    await server.call('stop', undefined).finally(() => server.stop())
  }
}

/** What a watch puts around an object. */
const FRAME = '{"type":"ADDED","object":}\n'

const watching = (target: Target) => ({
  target,
  path: `${configMapsPath(NAMESPACE)}?watch=1&resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
  watchers: WATCHERS,
})

const createAll = (load: Worker<LoadOperations>, target: Target, round: number) =>
  load.call('send', {
    target,
    request: {
      method: 'POST',
      path: configMapsPath(NAMESPACE),
      body: JSON.stringify(configMap(NAMESPACE, '{n}')),
    },
    count: EVENTS,
    connections: WRITERS,
    first: 1 + round * EVENTS,
  })

async function rounds(
  load: Worker<LoadOperations>,
  server: Worker<{usage: () => Usage}>,
  trigger: (round: number) => Promise<unknown>,
): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const before = await server.call('usage', undefined)
    const start = Date.now()
    const delivered = load.call('receive', EVENTS * WATCHERS)
    await trigger(round)
    const took = (await delivered) - start
    const after = await server.call('usage', undefined)
    const events = EVENTS * WATCHERS
    measured.push({perSecond: (events / took) * 1000, cpu: (after.cpu - before.cpu) / events})
  }
  // The first round warms up.
  return measured.slice(1)
}

function rowsOf(own: Round[], least: Round[]): BenchRow[] {
  const both = (pick: (round: Round) => number) =>
    [median(own.map(pick)), [median(least.map(pick)), 'same bytes to bare TLS answers']] as const
  const [rate, bareRate] = both(({perSecond}) => perSecond)
  const [cpu, bareCpu] = both(({cpu}) => cpu)
  return [
    compared(`events to ${WATCHERS} watchers`, rate, 'per s', bareRate),
    compared(`events to ${WATCHERS} watchers: processor time`, cpu, 'µs each', bareCpu),
  ]
}

function memoryRow(idle: Usage, watched: Usage): BenchRow {
  return {
    name: 'memory a watcher on a connection of its own',
    value: (watched.memory - idle.memory) / WATCHERS / 1024,
    unit: 'KiB',
  }
}
