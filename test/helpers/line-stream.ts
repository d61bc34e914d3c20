import type {ChildProcess} from 'node:child_process'
import {once} from 'node:events'

const TIMEOUT = 20_000

/** The lines that a program prints, to wait for while it runs. */
export class LineStream {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  #errors = ''
  #rest = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (this.#rest + text).split('\n')
      this.#rest = parts.pop() ?? ''
      this.lines.push(...parts)
    })
  }

  async until(wanted: (lines: string[]) => boolean): Promise<string[]> {
    const deadline = performance.now() + TIMEOUT
    while (!wanted(this.lines)) {
      if (performance.now() > deadline || this.#child.exitCode !== null) {
        const seen = [...this.lines, this.#errors].join('\n')
        throw new Error(`the program did not print what was waited for, only:\n${seen}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return this.lines
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill()
    await once(this.#child, 'close')
  }
}
