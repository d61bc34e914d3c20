import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm, readdir} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {JoinedPlane} from '../../src/cli/join-plane.ts'
import type {InitResult} from '../../src/control-plane/init/init.ts'
import {startBalancer, type Balancer} from './balancer.ts'
import {LOCAL, removePlane, trustadm, type Ended} from './program.ts'

/** One machine of the control plane. */
interface PlaneMachine {
  name: string
  dir: string
  /** Of its server itself, not of the balancer. */
  port: number
  /** What `init` or `join --control-plane` has printed. */
  printed: JoinedPlane | InitResult
}

/** A control plane of several machines, as the built program makes it: `init`, then `join --control-plane`, behind one address. */
export interface SeveralServers {
  folder: string
  balancer: Balancer
  machines: PlaneMachine[]
  first: InitResult
  /** The command line that `init` printed for the next machine, in this folder and with these flags. */
  join(name: string, ...more: string[]): Promise<Ended>
  stop(): Promise<void>
}

const JSON_OUTPUT = ['--output', 'json']
const ADVERTISED = ['--apiserver-advertise-address', '127.0.0.1']

const portOf = async (dir: string): Promise<number> =>
  (JSON.parse(await readFile(join(dir, 'server.json'), 'utf8')) as {port: number}).port

/** `etcd`: the flags that name it, or what starts it with files in the folder of the first machine and returns them. */
export async function startSeveral(
  count: number,
  etcd: string[] | ((dir: string, flags: string[]) => Promise<string[]>),
): Promise<SeveralServers> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-several-'))
  const balancer = await startBalancer()
  const dirOf = (name: string) => join(folder, name)
  const machines: PlaneMachine[] = []
  const flagsOf = (name: string) => [
    ...['--dir', dirOf(name), '--node-name', name],
    ...[...LOCAL, ...ADVERTISED],
  ]
  const stop = async () => {
    // Also those that did not become ready in time.
    for (const name of await readdir(folder)) await removePlane(dirOf(name))
    await balancer.close()
    await rm(folder, {recursive: true, force: true})
  }
  const add = async (name: string, {code, stdout, stderr}: Ended) => {
    assert.equal(code, 0, stderr)
    const printed = JSON.parse(stdout) as InitResult
    const port = await portOf(dirOf(name))
    machines.push({name, dir: dirOf(name), port, printed})
    balancer.targets.push(port)
    return printed
  }
  try {
    const flags = flagsOf('plane-0')
    const store = typeof etcd === 'function' ? await etcd(dirOf('plane-0'), flags) : etcd
    const endpoint = ['--control-plane-endpoint', `127.0.0.1:${balancer.port}`]
    const first = await add(
      'plane-0',
      await trustadm('init', ...flags, ...JSON_OUTPUT, ...endpoint, ...store, '--upload-certs'),
    )
    const [, ...words] = (first.controlPlaneJoinCommand ?? '').split(' ')
    const join = (name: string, ...more: string[]) =>
      trustadm(...words, ...flagsOf(name), ...JSON_OUTPUT, ...more)
    for (let index = 1; index < count; index++)
      await add(`plane-${index}`, await join(`plane-${index}`))
    return {folder, balancer, machines, first, join, stop}
  } catch (error) {
    await stop()
    throw error
  }
}
