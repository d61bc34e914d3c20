import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../src/client/api-client.ts'
import {connect} from '../src/client/connect.ts'
import {findClient, sayMissing} from '../test/helpers/clients.ts'
import {startEtcd} from '../test/helpers/etcd.ts'
import {inParallel} from '../test/helpers/in-parallel.ts'
import {Plane} from '../test/helpers/plane.ts'
import {startSeveral} from '../test/helpers/several-servers.ts'
import {
  joinRound,
  middleOf,
  targetOf,
  tokenFor,
  type JoinRound,
  type JoinTarget,
} from './joining.ts'
import {configMap} from './objects.ts'
import type {JoinLoadOperations} from './processes/join-load.ts'
import {Worker} from './processes/worker.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const CROWD = 300
const ROUNDS = 3
const LISTED = 1000
const LISTS = 40
const FILLERS = 16
const NAMESPACE = 'listed'

/** A control plane that is measured, by what it is compared as. */
interface Contender {
  target: JoinTarget
  clients: ApiClient[]
  joins: JoinRound[]
  lists: number[]
}

/** One server on the embedded store, one on etcd, and three on the same etcd behind a balancer. */
export async function benchEtcd(): Promise<BenchRow[]> {
  if (findClient('etcd') === undefined) {
    sayMissing('etcd')
    return []
  }
  const stops: (() => Promise<unknown>)[] = []
  try {
    const etcd = await startEtcd()
    stops.push(() => etcd.stop())
    const flags = (name: string) => [
      ...['--etcd-servers', etcd.servers.join(',')],
      ...['--etcd-prefix', `/${name}`],
    ]
    const load = await Worker.start<JoinLoadOperations>('join-load')
    stops.push(() => load.stop())
    const embedded = await single(stops)
    const one = await single(stops, ...flags('one'))
    const three = await several(stops, flags('three'))
    const all = [embedded, one, three]
    for (const {clients} of all) await fill(clients)
    // In turns, so that a busy moment of the machine hits all.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const contender of all) {
        contender.joins.push(await joinRound(load, contender.target, CROWD))
        contender.lists.push(await listing(contender.clients))
      }
    }
    return rowsOf(embedded, one, three)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

type Stops = (() => Promise<unknown>)[]

async function contender(
  stops: Stops,
  target: JoinTarget,
  kubeconfigs: string[],
): Promise<Contender> {
  const clients = await Promise.all(kubeconfigs.map((path) => connect(path)))
  stops.push(() => Promise.all(clients.map((client) => client.close())))
  return {target, clients, joins: [], lists: []}
}

async function single(stops: Stops, ...flags: string[]): Promise<Contender> {
  const plane = await Plane.start(...flags)
  stops.push(() => plane.stop())
  return await contender(stops, targetOf(plane), [plane.cluster.kubeconfig])
}

async function several(stops: Stops, flags: string[]): Promise<Contender> {
  const servers = await startSeveral(3, flags)
  stops.push(() => servers.stop())
  const paths = servers.machines.map(({dir}) => join(dir, 'admin.conf'))
  const state = join(servers.machines[0]?.dir ?? '', 'server.json')
  const {pid} = JSON.parse(await readFile(state, 'utf8')) as {pid: number}
  const newToken = () => tokenFor(paths[0] ?? '')
  // Each connection of a client is the balancer's next server.
  return await contender(stops, {pid, port: servers.balancer.port, newToken}, paths)
}

async function fill([client]: ApiClient[]): Promise<void> {
  await client?.namespaces.create({metadata: {name: NAMESPACE}})
  const numbers = Array.from({length: LISTED}, (_, number) => number)
  await inParallel(
    numbers,
    async (number) => {
      await client?.configMaps.create(configMap(NAMESPACE, number))
    },
    FILLERS,
  )
}

/** The middle of lists that must see every write: each asks the store for its revision first. */
async function listing(clients: ApiClient[]): Promise<number> {
  const took: number[] = []
  for (let index = 0; index < LISTS; index++) {
    const client = clients[index % clients.length]
    took.push(
      await milliseconds(async () => {
        const found = await client?.configMaps.list({namespace: NAMESPACE})
        // The namespace also has its CA bundle.
        if ((found?.items.length ?? 0) < LISTED) throw new Error('a list is not complete')
      }),
    )
  }
  return median(took)
}

function rowsOf(embedded: Contender, one: Contender, three: Contender): BenchRow[] {
  const joins = ({joins}: Contender) => middleOf(joins, ({perSecond}) => perSecond)
  const waits = ({joins}: Contender) => middleOf(joins, ({middle}) => middle)
  const lists = ({lists}: Contender) => median(lists.slice(1))
  const besideEmbedded = 'one server on the embedded store'
  const besideOne = 'one server on etcd'
  const list = `a list of ${LISTED} objects that sees every write, p50`
  const row = (name: string, unit: string, of: (one: Contender) => number) => [
    compared(`${name}, etcd`, of(one), unit, [of(embedded), besideEmbedded]),
    compared(`${name}, three servers on etcd`, of(three), unit, [of(one), besideOne]),
  ]
  return [
    ...row('joins a second', 'per s', joins),
    ...row('a join among 64, p50', 'ms', waits),
    ...row(list, 'ms', lists),
  ]
}
