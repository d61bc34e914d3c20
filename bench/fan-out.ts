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
    const own = await watched(load, server, target, (round) => createAll(load, target, round))
    await load.call('unwatch', undefined)
    const port = await bare.call('start', {tls: target, sizes: {}})
    const least = await watched(load, bare, {...target, port}, () =>
      bare.call('broadcast', {size: size + FRAME.length, times: EVENTS}),
    )
    return rowsOf(own, least)
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

interface Measured {
  rounds: Round[]
  /** Bytes a watcher. */
  memory: number
}

async function watched(
  load: Worker<LoadOperations>,
  server: Worker<{usage: () => Usage}>,
  target: Target,
  trigger: (round: number) => Promise<unknown>,
): Promise<Measured> {
  const usage = () => server.call('usage', undefined)
  const idle = await usage()
  await load.call('watch', watching(target))
  const {memory} = await usage()
  const rounds: Round[] = []
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const before = await usage()
    const start = Date.now()
    const delivered = load.call('receive', EVENTS * WATCHERS)
    await trigger(round)
    const took = (await delivered) - start
    const after = await usage()
    const events = EVENTS * WATCHERS
    rounds.push({perSecond: (events / took) * 1000, cpu: (after.cpu - before.cpu) / events})
  }
  return {rounds: rounds.slice(1), memory: (memory - idle.memory) / WATCHERS}
}

function rowsOf(own: Measured, least: Measured): BenchRow[] {
  const row = (name: string, unit: string, pick: (measured: Measured) => number) =>
    compared(name, pick(own), unit, [pick(least), 'same bytes to bare TLS answers'])
  const middle = (pick: (round: Round) => number) => (measured: Measured) =>
    median(measured.rounds.map(pick))
  return [
    row(
      `events to ${WATCHERS} watchers`,
      'per s',
      middle(({perSecond}) => perSecond),
    ),
    row(
      `events to ${WATCHERS} watchers: processor time`,
      'µs each',
      middle(({cpu}) => cpu),
    ),
    row('memory for a watcher with its connection', 'KiB', ({memory}) => memory / 1024),
  ]
}
