import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {sleep} from '../../src/runtime.ts'
import {PROGRAM, startCluster, type Cluster} from './cluster.ts'
import {usageOf} from './usage.ts'

const START_PATIENCE = 60_000
const STOP_PATIENCE = 15_000

/** The built program's own server on the loopback, which can be killed and started again. */
export class Plane {
  readonly cluster: Cluster
  /** Of the server that runs now. */
  pid: number
  #restarted: ChildProcess | undefined

  private constructor(cluster: Cluster, pid: number) {
    this.cluster = cluster
    this.pid = pid
  }

  static async start(...flags: string[]): Promise<Plane> {
    const cluster = await startCluster(...flags)
    const text = await readFile(join(cluster.dir, 'server.json'), 'utf8')
    return new Plane(cluster, (JSON.parse(text) as {pid: number}).pid)
  }

  get isRunning(): boolean {
    return usageOf(this.pid) !== undefined
  }

  /** As a power cut, and on again, with flags of `serve`. Gives the milliseconds until it was ready. `whileDown` may work on its files. */
  async restart(whileDown?: () => Promise<void>, ...flags: string[]): Promise<number> {
    await this.#end('SIGKILL')
    await whileDown?.()
    const start = performance.now()
    const {dir, kubeconfig} = this.cluster
    const args = [PROGRAM, 'serve', '--dir', dir, ...flags]
    const child = spawn(process.execPath, args, {stdio: 'ignore'})
    this.#restarted = child
    this.pid = child.pid ?? 0
    const client = await connect(kubeconfig, {retry: {attempts: 1}, timeout: 5000})
    try {
      while ((await client.raw('/readyz').catch(() => undefined)) !== 'ok') {
        if (child.exitCode !== null) throw new Error('the server did not start again')
        if (performance.now() - start > START_PATIENCE)
          throw new Error(`the server was not ready after ${START_PATIENCE / 1000} s`)
        await sleep(20)
      }
      return performance.now() - start
    } finally {
      await client.close()
    }
  }

  /** Ends the server and removes all that it had. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    await this.cluster.stop()
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    // One that hangs does not hear a milder signal.
    await this.cluster.killServer()
    const child = this.#restarted
    if (child?.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE)
    await ended
    clearTimeout(timer)
  }
}
