import type {ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import type {Kubectl} from './kubectl.ts'

/** A rotation of several servers takes longer than a command. */
const WATCH_TIMEOUT = 300_000

/** A kubectl that watches, and one that asks again and again. */
export class KubectlUsers {
  readonly failures: string[] = []
  seen = ''
  answered = 0
  #isOver = false
  readonly #watch: ChildProcess
  readonly #loop: Promise<void>

  constructor(kubectl: Kubectl) {
    this.#watch = kubectl.start('get configmaps --watch -o name', {timeout: WATCH_TIMEOUT})
    this.#watch.stdout?.setEncoding('utf8').on('data', (text: string) => (this.seen += text))
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
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    const ended = once(this.#watch, 'exit')
    this.#watch.kill('SIGTERM')
    await Promise.all([ended, this.#loop])
  }
}
