import {fork, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {fileURLToPath} from 'node:url'
import {untilAborted} from '../src/client/cancellation.ts'
import type {Holdings} from './attack.ts'
import {READY, type Dispatch, type Orders} from './generator/orders.ts'

const PROGRAM = fileURLToPath(new URL('generator/process.ts', import.meta.url))
const PROCESSES = 4
const PATIENCE = 10_000

/** The attackers, in a few processes apart: what they cost is not mixed with what the honest ones wait for. */
export class Generators {
  readonly #children: ChildProcess[]
  #dispatches: Dispatch[] = []
  #isStarted = false

  private constructor(holdings: Holdings, attacks: readonly string[]) {
    const shares = Array.from({length: Math.min(PROCESSES, attacks.length)}, (_, number) =>
      attacks.filter((_attack, index) => index % PROCESSES === number),
    )
    this.#children = shares.map((share, number) => {
      const child = fork(PROGRAM, {
        // A session of its own, so that its priority counts: Linux shares the processor between sessions first.
        detached: true,
        execArgv: ['--import', 'tsx'],
        env: {...process.env, UV_THREADPOOL_SIZE: '2'},
      })
      child.on('message', (message: Dispatch | typeof READY) => {
        if (message !== READY) this.#dispatches[number] = message
      })
      child.send({holdings, attacks: share} satisfies Orders)
      return child
    })
  }

  /** Ends once all of them are ready. */
  static async prepare(
    holdings: Holdings,
    attacks: readonly string[],
    signal: AbortSignal,
  ): Promise<Generators> {
    const generators = new Generators(holdings, attacks)
    try {
      await untilAborted(Promise.all(generators.#children.map(ready)), signal)
      return generators
    } catch (error) {
      await generators.stop()
      throw error
    }
  }

  start(): void {
    this.#isStarted = true
    for (const child of this.#children) child.send('start')
  }

  get tallies(): Dispatch {
    return Object.assign({}, ...this.#dispatches) as Dispatch
  }

  get pids(): number[] {
    return this.#children.flatMap(({pid}) => pid ?? [])
  }

  async stop(): Promise<void> {
    // One that has not started ends with its connection.
    if (!this.#isStarted) for (const child of this.#children) child.disconnect()
    await Promise.all(this.#children.map(stopOne))
  }
}

async function ready(child: ChildProcess): Promise<void> {
  const died = once(child, 'exit').then(() => {
    throw new Error('an attacker did not start')
  })
  died.catch(() => undefined)
  await Promise.race([once(child, 'message'), died])
}

async function stopOne(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  if (child.connected) child.send('stop')
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  await ended
  clearTimeout(timer)
}
