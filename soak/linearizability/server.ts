import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {open, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo, findAccess} from '../../src/client/connect.ts'
import {loadPlane} from '../../src/control-plane/config/stored.ts'
import {identityOf} from '../../src/control-plane/plane-storage.ts'
import {sleep} from '../../src/runtime.ts'
import {PROGRAM} from '../../test/helpers/program.ts'

/** Longer than a server takes to find another member of etcd. */
const REQUEST_TIMEOUT = 8_000
const START_PATIENCE = 60_000

/** One of the servers, as a process of its own that can be killed, stopped and started again. */
export class Server {
  readonly name: string
  readonly dir: string
  /** What its Leases call it. */
  readonly identity: string
  readonly admin: ApiClient
  /** As a machine that has a bootstrap token. */
  readonly machine: ApiClient
  /** Whether it is expected to answer. */
  isUp = false
  #child: ChildProcess | undefined

  private constructor(
    name: string,
    dir: string,
    identity: string,
    clients: {admin: ApiClient; machine: ApiClient},
  ) {
    this.name = name
    this.dir = dir
    this.identity = identity
    this.admin = clients.admin
    this.machine = clients.machine
  }

  static async of(name: string, dir: string, token: string): Promise<Server> {
    const plane = await loadPlane(dir)
    const access = await findAccess(join(dir, 'admin.conf'))
    const server = `https://127.0.0.1:${plane.settings.bindPort}`
    const options = {retry: {attempts: 1}, timeout: REQUEST_TIMEOUT}
    return new Server(name, dir, identityOf(plane), {
      admin: connectTo({...access, server}, options),
      machine: connectTo(
        {server, ca: access.ca, bearerToken: () => Promise.resolve(token)},
        options,
      ),
    })
  }

  /** Until it is ready. */
  async start(): Promise<void> {
    const log = await open(join(this.dir, 'logs', 'serve.log'), 'a')
    const args = [PROGRAM, 'serve', '--dir', this.dir]
    const child = spawn(process.execPath, args, {stdio: ['ignore', log.fd, log.fd]})
    await log.close()
    this.#child = child
    const deadline = performance.now() + START_PATIENCE
    while ((await this.admin.raw('/readyz').catch(() => undefined)) !== 'ok') {
      if (child.exitCode !== null) throw new Error(`${this.name} ended: ${await this.lastWords()}`)
      if (performance.now() > deadline)
        throw new Error(`${this.name} is not ready: ${await this.lastWords()}`)
      await sleep(50)
    }
    this.isUp = true
  }

  /** The end of its log. */
  async lastWords(): Promise<string> {
    return (await readFile(join(this.dir, 'logs', 'serve.log'), 'utf8')).slice(-2000)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.isUp = false
    const child = this.#child
    if (child?.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    // One that was stopped hears nothing milder than SIGKILL.
    child.kill('SIGCONT')
    await ended
  }

  /** As if its network were cut: it does nothing, and its connections stay. */
  pause(): void {
    this.isUp = false
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
    this.isUp = true
  }

  async close(): Promise<void> {
    await this.end('SIGTERM')
    await Promise.all([this.admin.close(), this.machine.close()])
  }
}
