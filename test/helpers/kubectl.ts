import assert from 'node:assert/strict'
import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {join} from 'node:path'
import {inParallel} from './in-parallel.ts'

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  /** What it reads where a file is `-`. */
  input?: string
  env?: Record<string, string>
  /** Milliseconds after which it is ended. */
  timeout?: number
}

export interface KubectlOptions {
  binary: string
  kubeconfig: string
  /** Its HOME, cache and temporary files. */
  home: string
  /** Where commands that name none work. */
  namespace?: string
}

const TIMEOUT = 30_000

/** Words of a command line, with single quotes as in a shell. */
const words = (line: string): string[] =>
  (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''))

/** A real kubectl with a home of its own. */
export class Kubectl {
  readonly #options: KubectlOptions

  constructor(options: KubectlOptions) {
    this.#options = options
  }

  get namespace(): string {
    return this.#options.namespace ?? 'default'
  }

  in(namespace: string): Kubectl {
    return new Kubectl({...this.#options, namespace})
  }

  start(line: string, {env = {}, timeout = TIMEOUT}: Omit<RunOptions, 'input'> = {}): ChildProcess {
    const {binary, kubeconfig, home, namespace} = this.#options
    const args = ['--cache-dir', join(home, 'cache'), ...words(line)]
    if (namespace) args.unshift('--namespace', namespace)
    return spawn(binary, args, {
      cwd: home,
      env: {PATH: process.env.PATH, HOME: home, TMPDIR: home, KUBECONFIG: kubeconfig, ...env},
      timeout,
    })
  }

  /**
   * Watches one object, by a list of it. If it is got by name, kubectl prints what it got and drops the first event of its watch, so a
   * change between the two is never printed.
   */
  watchOne(plural: string, name: string, flags = ''): ChildProcess {
    const selector = `--field-selector metadata.name=${name}`
    return this.start(`get ${plural} ${selector} --watch --no-headers ${flags}`)
  }

  async run(line: string, {input, env = {}}: RunOptions = {}): Promise<Finished> {
    const child = this.start(line, {env})
    let [stdout, stderr] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdin?.on('error', () => undefined).end(input)
    const [code] = (await once(child, 'close')) as [number | null]
    return {code, stdout, stderr}
  }

  /** What it says to each of several questions, asked a few at a time. */
  async runAll(questions: string[]): Promise<Map<string, Finished>> {
    const answers = new Map<string, Finished>()
    await inParallel(questions, async (line) => {
      answers.set(line, await this.run(line))
    })
    return answers
  }

  /** Its output, where it has to succeed. */
  async ok(line: string, options?: RunOptions): Promise<string> {
    const {code, stdout, stderr} = await this.run(line, options)
    assert.equal(code, 0, `kubectl ${line}: exit ${code}\n${stderr}${stdout}`)
    return stdout
  }

  /** What it says on stderr, where it has to fail. */
  async fails(line: string, options?: RunOptions): Promise<string> {
    const {code, stdout, stderr} = await this.run(line, options)
    assert.equal(code, 1, `kubectl ${line}: exit ${code}\n${stderr}${stdout}`)
    return stderr
  }
}
