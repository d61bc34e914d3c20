import {connectTo} from '../../../src/client/connect.ts'
import {hasCode} from '../../../src/errors.ts'
import {sleep} from '../../../src/runtime.ts'
import type {SeveralServers} from '../../helpers/several-servers.ts'
import {accessTo} from './support.ts'

type Machine = SeveralServers['machines'][number]

const KEY = {namespace: 'default', name: 'steady'}
/** Milliseconds. */
const [PAUSE, PATIENCE] = [50, 30_000]

/**
 * Writes a number and reads it at the next server, all the time until it is stopped. It asks another server only if one that was killed has
 * cut a request, or does not accept any. Every other error is a failure, also of a server that has just come back.
 */
export class SteadyClient {
  readonly failures: string[] = []
  /** Reads and writes that a server has done. */
  answered = 0
  /** Those that were cut. */
  cut = 0
  readonly #machines: readonly Machine[]
  readonly #work: Promise<void>
  #isOver = false
  #turn = 0

  constructor(machines: readonly Machine[]) {
    this.#machines = machines
    this.#work = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  async #run(): Promise<void> {
    try {
      await this.#ask((client) => client.configMaps.create({metadata: KEY, data: {count: '0'}}))
    } catch (error) {
      this.#fail('create', error)
    }
    for (let count = 1; !this.#isOver; count++) {
      await this.#writeAndRead(String(count)).catch((error: unknown) => {
        this.#fail(`round ${count}`, error)
      })
      await sleep(PAUSE)
    }
  }

  async #writeAndRead(count: string): Promise<void> {
    await this.#ask((client) => client.configMaps.patch(KEY, {data: {count}}, {type: 'merge'}))
    const read = await this.#ask((client) => client.configMaps.get(KEY))
    if (read.data?.count !== count) throw new Error(`read ${read.data?.count}, not ${count}`)
  }

  /** At each server in turn, with the kubeconfig that each machine has at that moment. */
  async #ask<T>(work: (client: ReturnType<typeof connectTo>) => Promise<T>): Promise<T> {
    const end = performance.now() + PATIENCE
    for (;;) {
      const turn = (this.#turn += 1)
      const [server, user] = [this.#machine(turn), this.#machine(Math.floor(turn / 3))]
      const client = connectTo(await accessTo(server, user), {retry: {attempts: 1}})
      try {
        const done = await work(client)
        this.answered += 1
        return done
      } catch (error) {
        const isCut = hasCode(error, 'SERVER_UNREACHABLE') && performance.now() < end
        if (!isCut) throw new Error(`${server.name}, ${user.name}`, {cause: error})
        this.cut += 1
      } finally {
        await client.close()
      }
    }
  }

  #machine(turn: number): Machine {
    const machine = this.#machines[turn % this.#machines.length]
    if (machine === undefined) throw new Error('there is no machine')
    return machine
  }

  #fail(what: string, error: unknown): void {
    const {message, cause} = error as Error
    this.failures.push(`${new Date().toISOString()} ${what}: ${message}: ${String(cause)}`)
  }
}
