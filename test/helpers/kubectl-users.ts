import type {ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {setTimeout as sleep} from 'node:timers/promises'
import type {Kubectl} from './kubectl.ts'

/** A rotation of several servers takes longer than a command. */
const WATCH_TIMEOUT = 300_000
/** How long a user may take for one more request, on a machine that is busy. */
const PATIENCE = 60_000
const PAUSE = 50

/** A kubectl that watches, and one that asks again and again. */
export class KubectlUsers {
  readonly failures: string[] = []
  seen = ''
  answered = 0
  #isOver = false
  readonly #watch: ChildProcess
  readonly #watchEnded: Promise<unknown>
  readonly #loop: Promise<void>

  constructor(kubectl: Kubectl) {
    this.#watch = kubectl.start('get configmaps --watch -o name', {timeout: WATCH_TIMEOUT})
    this.#watch.stdout?.setEncoding('utf8').on('data', (text: string) => (this.seen += text))
    this.#watchEnded = once(this.#watch, 'exit')
    this.#watch.once('exit', (code, signal) => {
      if (!this.#isOver) this.failures.push(`the watch ended: ${code ?? signal}`)
    })
    this.#loop = this.#ask(kubectl)
  }

  async #ask(kubectl: Kubectl): Promise<void> {
    while (!this.#isOver) {
      const {code, stderr} = await kubectl.run('get configmaps -o name')
      if (code === 0) this.answered += 1
      else this.failures.push(stderr)
      await sleep(PAUSE)
    }
  }

  /** Waits until it holds. Throws with what the user has seen if it does not. */
  async until(what: string, holds: (user: this) => boolean): Promise<void> {
    const end = performance.now() + PATIENCE
    while (!holds(this)) {
      if (performance.now() > end || this.failures.length > 0)
        throw new Error(`${what}: ${this.failures.join('; ')}; seen: ${this.seen}`)
      await sleep(PAUSE)
    }
  }

  /** Waits until one more request is answered. */
  async oneMore(): Promise<void> {
    const before = this.answered
    await this.until('one more request', ({answered}) => answered > before)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#watch.kill('SIGTERM')
    await Promise.all([this.#watchEnded, this.#loop])
  }
}
