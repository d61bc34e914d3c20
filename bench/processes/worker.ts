import {fork, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {bundled} from './bundle.ts'
import type {Answer, Call, Operations} from './calls.ts'

type Argument<Operation> = Operation extends (argument: infer A) => unknown ? A : never
type Result<Operation> = Operation extends (argument: never) => infer R ? Awaited<R> : never

/** A process apart, so that what it costs is not mixed with what others cost. */
export class Worker<Served extends Operations> {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #calls = 0

  private constructor(file: string) {
    this.#child = fork(file, {execArgv: execArguments()})
    this.#child.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
    this.#child.once('exit', (code) => {
      for (const [id, settle] of this.#waiting) settle({id, error: `${file} ended with ${code}`})
    })
  }

  /** Starts one of the programs beside this file. */
  static async start<Served extends Operations>(program: string): Promise<Worker<Served>> {
    return new Worker<Served>(await bundled(program))
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process has not been started')
    return this.#child.pid
  }

  async call<Name extends keyof Served & string>(
    name: Name,
    argument: Argument<Served[Name]>,
  ): Promise<Result<Served[Name]>> {
    const id = this.#calls++
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve))
    this.#child.send({id, name, argument} satisfies Call)
    const {error, result} = await answered
    if (error !== undefined) throw new Error(error)
    return result as Result<Served[Name]>
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Options for profiling, such as --cpu-prof, are handed on. */
const execArguments = () => (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean)
