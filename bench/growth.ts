import {configMap, configMapsPath} from './objects.ts'
import type {ApiServerOperations} from './processes/api-server.ts'
import {Worker} from './processes/worker.ts'
import type {Load, LoadOperations} from './processes/load.ts'
import type {Target} from './processes/target.ts'
import {compared, median, type BenchRow} from './rows.ts'

const SIZES = [100, 10_000, 50_000]
const ROUNDS = 7
const REQUESTS = 2000
const CONNECTIONS = 32
const STORED = 'stored'
const ADDED = 'added'

interface Grown {
  size: number
  server: Worker<ApiServerOperations>
  target: Target
  gets: number[]
  creates: number[]
}

/**
 * What a get and a create cost the server when little and when much is stored, in processor time: that depends least on what else
 * the machine does. The sizes take turns, so that all of them see the same disturbances.
 */
export async function benchGrowth(): Promise<BenchRow[]> {
  const load = await Worker.start<LoadOperations>('load')
  const grown: Grown[] = []
  try {
    for (const size of SIZES) grown.push(await grow(size))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const one of grown) await measure(one, load)
    }
    return [
      ...rowsOf('get', grown, ({gets}) => gets),
      ...rowsOf('create', grown, ({creates}) => creates),
    ]
  } finally {
    await load.stop()
    for (const {server} of grown) await server.call('stop', undefined).finally(() => server.stop())
  }
}

async function grow(size: number): Promise<Grown> {
  const server = await Worker.start<ApiServerOperations>('api-server')
  const target = await server.call('start', undefined)
  await server.call('fill', {namespace: STORED, from: 0, to: size})
  await server.call('fill', {namespace: ADDED, from: 0, to: 0})
  return {size, server, target, gets: [], creates: []}
}

async function measure(grown: Grown, load: Worker<LoadOperations>): Promise<void> {
  const {size, target, server} = grown
  const common = {target, count: REQUESTS, connections: CONNECTIONS}
  const get = {method: 'GET', path: `${configMapsPath(STORED)}/object-{n}`}
  const create = {
    method: 'POST',
    path: configMapsPath(ADDED),
    body: JSON.stringify(configMap(ADDED, '{n}')),
  }
  grown.gets.push(await cost(server, load, {...common, request: get, numbers: size}))
  grown.creates.push(await cost(server, load, {...common, request: create}))
  // The next round finds as many objects as this one did.
  await server.call('clear', ADDED)
}

async function cost(
  server: Worker<ApiServerOperations>,
  sender: Worker<LoadOperations>,
  load: Load,
): Promise<number> {
  const before = await server.call('usage', undefined)
  await sender.call('send', load)
  const after = await server.call('usage', undefined)
  return (after.cpu - before.cpu) / load.count
}

function rowsOf(name: string, grown: Grown[], pick: (one: Grown) => number[]): BenchRow[] {
  // The first round warms up.
  const costs = grown.map((one) => ({size: one.size, cost: median(pick(one).slice(1))}))
  const [smallest] = costs
  if (smallest === undefined) return []
  return costs.map((one) =>
    compared(`${name} with ${one.size} objects stored`, one.cost, 'µs each', [
      smallest.cost,
      `with ${smallest.size} stored; at most 1.5`,
    ]),
  )
}
