import {sleep} from '../../src/runtime.ts'
import type {EtcdCluster} from '../../test/helpers/etcd.ts'
import type {Races} from './races.ts'
import type {Server} from './server.ts'

/** One thing that goes wrong, and is put right again. */
interface Fault {
  what: string
  /** The server that it hits. */
  server?: Server
  strike(): Promise<void> | void
  heal(): Promise<void> | void
}

/** How long it took until the controllers worked again. */
export interface Recovery {
  what: string
  /** Whether it hit the server whose controllers ran. */
  hitLeader: boolean
  /** Undefined: not within the patience. */
  milliseconds: number | undefined
}

const PATIENCE = 60_000
const POLL = 50
const LEASE = {namespace: 'trustadm-system', name: 'trustadm-serve'}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

const killServer = (server: Server): Fault => ({
  what: 'server killed',
  server,
  strike: () => server.end('SIGKILL'),
  heal: () => server.start(),
})

const stopServer = (server: Server): Fault => ({
  what: 'server stopped',
  server,
  strike: () => server.pause(),
  heal: () => server.resume(),
})

function killMember({members}: EtcdCluster): Fault {
  const member = pick(members)
  return {what: 'member killed', strike: () => member.kill(), heal: () => member.start()}
}

function stopMember({members}: EtcdCluster): Fault {
  const member = pick(members)
  return {
    what: 'member stopped',
    strike: () => member.kill('SIGSTOP'),
    heal: () => void member.process.kill('SIGCONT'),
  }
}

const both = (one: Fault, other: Fault): Fault => ({
  what: `${one.what}, ${other.what}`,
  ...(one.server && {server: one.server}),
  async strike() {
    await Promise.all([one.strike(), other.strike()])
  },
  async heal() {
    await other.heal()
    await one.heal()
  },
})

type MakeFault = (server: Server, etcd: EtcdCluster) => Fault

const KINDS: Readonly<Record<string, MakeFault>> = {
  'server-killed': killServer,
  'server-stopped': stopServer,
  'member-killed': (_, etcd) => killMember(etcd),
  'member-stopped': (_, etcd) => stopMember(etcd),
  'both-killed': (server, etcd) => both(killServer(server), killMember(etcd)),
  'both-stopped': (server, etcd) => both(stopServer(server), stopMember(etcd)),
}

export const FAULTS = Object.keys(KINDS)

/**
 * One fault after the other. A fault lasts until the controllers work beside it, so that another server has to take over, or, half of the
 * times, only a moment.
 */
export async function strike(
  {kills, faults}: {kills: number; faults: readonly string[]},
  {servers, etcd, races}: {servers: readonly Server[]; etcd: EtcdCluster; races: Races},
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<Recovery[]> {
  const recoveries: Recovery[] = []
  for (let number = 1; number <= kills && !signal.aborted; number++) {
    const fault = KINDS[pick(faults)]?.(pick(servers), etcd)
    if (!fault) break
    const leader = await holder(servers)
    await fault.strike()
    const struck = performance.now()
    const isShort = Math.random() < 0.5
    if (isShort) {
      await sleep(1000 * Math.random(), signal)
      await fault.heal()
    }
    const milliseconds = await recovered(races, struck, signal)
    if (!isShort) await fault.heal()
    const hitLeader = fault.server !== undefined && fault.server.identity === leader
    recoveries.push({what: fault.what, hitLeader, milliseconds})
    const took = milliseconds === undefined ? 'never' : `${Math.round(milliseconds)} ms`
    tell(`${number}: ${fault.what}${hitLeader ? ' (leader)' : ''}: controllers after ${took}`)
    if (milliseconds === undefined)
      for (const server of servers) tell(`${server.name}: ${await server.lastWords()}`)
  }
  return recoveries
}

async function recovered(
  races: Races,
  moment: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  while (performance.now() - moment < PATIENCE) {
    const found = races.decidedAfter(moment)
    if (found !== undefined) return found
    await sleep(POLL, signal)
  }
  return undefined
}

async function holder(servers: readonly Server[]): Promise<string | undefined> {
  for (const {admin, isUp} of servers) {
    const lease = isUp && (await admin.leases.find(LEASE).catch(() => undefined))
    if (lease) return lease.spec?.holderIdentity
  }
  return undefined
}
