import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {connect, createServer, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as delay} from 'node:timers/promises'
import {findClient, sayMissing} from './clients.ts'
import {isOnEtcd} from './on-etcd.ts'

/** One member of a real etcd cluster. */
interface EtcdMember {
  url: string
  process: ChildProcess
  start(): Promise<void>
  /** Kills it with this signal, and waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface EtcdCluster {
  members: EtcdMember[]
  servers: string[]
  stop(): Promise<void>
}

interface EtcdOptions {
  members?: number
  args?: string[]
  /** With TLS: the scheme of the addresses for clients. */
  scheme?: 'http' | 'https'
  /** The same for other members. */
  peerScheme?: 'http' | 'https'
}

/** A suite with a real etcd; without it the suite is skipped, and says why. `npm run test:etcd` selects these by their titles. */
export function describeWithEtcd(title: string, tests: (this: Mocha.Suite) => void): void {
  const isThere = findClient('etcd') !== undefined
  if (!isThere) sayMissing('etcd')
  const suite = isThere ? describe : describe.skip
  suite(`real etcd: ${title}`, tests)
}

/** One whose control planes begin without etcd, or with an etcd of their own: skipped where `test/on-etcd` gives them another one. */
export function describeWithOwnEtcd(title: string, tests: (this: Mocha.Suite) => void): void {
  if (isOnEtcd) describe.skip(`real etcd: ${title} (only without etcd as the store of all)`, tests)
  else describeWithEtcd(title, tests)
}

/** Ports that are free at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({length: count}, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Starts a cluster on loopback and waits until it accepts writes. Another program may take a port first: then with others. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(options)
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}

async function tryToStart({
  members: count = 1,
  args = [],
  scheme = 'http',
  peerScheme = 'http',
}: EtcdOptions): Promise<EtcdCluster> {
  const binary = findClient('etcd') ?? 'etcd'
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-etcd-'))
  const ports = await freePorts(2 * count)
  const peers = ports.slice(count).map((port) => `${peerScheme}://127.0.0.1:${port}`)
  const servers = ports.slice(0, count).map((port) => `${scheme}://127.0.0.1:${port}`)
  const initial = peers.map((peer, index) => `m${index}=${peer}`).join(',')
  const members = servers.map((url, index): EtcdMember => {
    const own = [
      ...['--name', `m${index}`, '--data-dir', join(folder, `m${index}`)],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...[
        '--listen-peer-urls',
        peers[index] ?? '',
        '--initial-advertise-peer-urls',
        peers[index] ?? '',
      ],
      ...['--initial-cluster', initial, '--log-level', 'error'],
      // Loopback answers at once: an election need not take a second.
      ...['--heartbeat-interval', '50', '--election-timeout', '500'],
      ...args,
    ]
    const run = () => spawn(binary, own, {stdio: ['ignore', 'ignore', 'pipe']})
    const member: EtcdMember = {
      url,
      process: run(),
      start: async () => {
        member.process = run()
        await untilUp(member)
      },
      kill: async (signal = 'SIGKILL') => {
        const {process: child} = member
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.kill(signal)
        if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await ended
      },
    }
    return member
  })
  const stop = async () => {
    await Promise.all(members.map((member) => member.kill('SIGKILL')))
    await rm(folder, {recursive: true, force: true})
  }
  try {
    await Promise.all(members.map(untilUp))
  } catch (error) {
    await stop()
    throw error
  }
  return {members, servers, stop}
}

/** Until the member's port for clients accepts connections and the cluster has a leader. */
async function untilUp(member: EtcdMember): Promise<void> {
  const {process: child, url} = member
  let said = ''
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (said = (said + text).slice(-2000)))
  while (child.exitCode === null && child.signalCode === null) {
    if (await isUp(url)) return
    await delay(20)
  }
  throw new Error(`etcd ended: ${said}`)
}

async function isUp(url: string): Promise<boolean> {
  // With TLS, a connection has to do: the tests wait for what they need.
  if (url.startsWith('https:')) return isListening(Number(new URL(url).port))
  try {
    const answer = await fetch(`${url}/v3/kv/range`, {method: 'POST', body: '{"key":"AA=="}'})
    await answer.text()
    return answer.status === 200
  } catch {
    return false
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
