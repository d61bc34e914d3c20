import {fork, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {fileURLToPath} from 'node:url'
import type {Holdings} from './attack.ts'
import type {Dispatch, Orders} from './generator/process.ts'

const PROGRAM = fileURLToPath(new URL('generator/process.ts', import.meta.url))
const PROCESSES = 4
const PATIENCE = 10_000

/** The attackers, in a few processes apart: what they cost is not mixed with what the honest ones wait for. */
export class Generators {
  readonly #children: ChildProcess[]
  #dispatches: Dispatch[] = []

  private constructor(holdings: Holdings, attacks: readonly string[]) {
    const shares = Array.from({length: Math.min(PROCESSES, attacks.length)}, (_, number) =>
      attacks.filter((_attack, index) => index % PROCESSES === number),
    )
    this.#children = shares.map((share, number) => {
      const child = fork(PROGRAM, {
        execArgv: ['--import', 'tsx'],
        env: {...process.env, UV_THREADPOOL_SIZE: '2'},
      })
      child.on('message', (dispatch: Dispatch) => (this.#dispatches[number] = dispatch))
      child.send({holdings, attacks: share} satisfies Orders)
      return child
    })
  }

  /** Ends once all of them have told something. */
  static async start(holdings: Holdings, attacks: readonly string[]): Promise<Generators> {
    const generators = new Generators(holdings, attacks)
    await Promise.all(generators.#children.map(firstWord))
    return generators
  }

  get tallies(): Dispatch {
    return Object.assign({}, ...this.#dispatches) as Dispatch
  }

  get pids(): number[] {
    return this.#children.flatMap(({pid}) => pid ?? [])
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map(stopOne))
  }
}

async function firstWord(child: ChildProcess): Promise<void> {
  const died = once(child, 'exit').then(() => {
    throw new Error('an attacker did not start')
  })
  await Promise.race([once(child, 'message'), died])
  died.catch(() => undefined)
}

async function stopOne(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  if (child.connected) child.send('stop')
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  await ended
  clearTimeout(timer)
}
