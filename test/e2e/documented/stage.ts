import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmod, mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect} from '../../../src/client/connect.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {LOCAL, PROGRAM, removePlane, type Ended} from '../../helpers/program.ts'
import {atTerminal} from '../../helpers/terminal.ts'

/** A machine: its host name, and where it keeps what it is as a node. */
export interface Machine {
  host: string
  /** Another folder for a machine that was installed again. */
  folder?: string
  /** Another control plane than the first machine's. */
  plane?: string
}

/** What is typed once the screen shows this. */
export type Answer = [shown: string, typed: string]

const OPERATOR: Machine = {host: 'control-plane'}

/** A control plane, and machines around it, on which commands are typed as the documentation has them. */
export class Stage {
  readonly folder: string
  readonly #placeholders: ReadonlyMap<string, () => string>
  /** What stands for the placeholders of the documentation. */
  readonly values = new Map<string, string>()
  /** How commands in the background have ended. */
  readonly ends = new Map<string, Ended>()
  client!: ApiClient
  #hasKubectl = false
  /** Stops what still runs if a test gives up on it. */
  readonly #running = new Set<() => Promise<Ended>>()

  private constructor(folder: string, placeholders: ReadonlyMap<string, () => string>) {
    this.folder = folder
    this.#placeholders = placeholders
  }

  static async start(
    placeholders: (stage: Stage) => ReadonlyMap<string, () => string>,
    kubectl?: string,
  ): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'trustadm-documented-'))
    const lazily = new Map<string, () => string>()
    const stage = new Stage(folder, lazily)
    for (const [text, value] of placeholders(stage)) lazily.set(text, value)
    await Promise.all(['bin', 'work', 'nodes'].map((name) => mkdir(join(folder, name))))
    const program = join(folder, 'bin', 'trustadm')
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`)
    await chmod(program, 0o755)
    if (kubectl !== undefined) {
      await symlink(kubectl, join(folder, 'bin', 'kubectl'))
      stage.#hasKubectl = true
    }
    const host = "require('node:os').hostname = () => process.env.TEST_HOST"
    await writeFile(join(folder, 'host.cjs'), host)
    const made = await stage.run(`trustadm init ${LOCAL.join(' ')} --output json`)
    if (made.code !== 0) throw new Error(made.stderr)
    const result = JSON.parse(made.stdout) as {
      endpoint: string
      token: string
      caCertHashes: string[]
    }
    stage.values.set('endpoint', new URL(result.endpoint).host)
    stage.values.set('token', result.token)
    stage.values.set('pin', result.caCertHashes[0] ?? '')
    stage.client = await connect(stage.file('plane/admin.conf'))
    return stage
  }

  file = (path: string): string => join(this.folder, path)

  nodeDir = ({host, folder = host}: Machine): string => this.file(`nodes/${folder}`)

  /** The command with what the placeholders stand for. */
  typed(command: string): string {
    let text = command
    for (const [placeholder, value] of this.#placeholders)
      if (text.includes(placeholder)) text = text.replaceAll(placeholder, value())
    return text
  }

  #environment(machine: Machine): Record<string, string> {
    return {
      PATH: `${this.file('bin')}:${process.env.PATH ?? ''}`,
      HOME: this.folder,
      TRUSTADM_DIR: this.file(machine.plane ?? 'plane'),
      TRUSTADM_NODE_DIR: this.nodeDir(machine),
      // kubectl does not look into the folder of a control plane.
      KUBECONFIG: this.#hasKubectl ? this.file('plane/admin.conf') : '',
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${this.file('host.cjs')}`.trim(),
      TEST_HOST: machine.host,
    }
  }

  /** Starts a command that runs until it is stopped, or waits for somebody. */
  begin(command: string, machine: Machine = OPERATOR) {
    const child = spawn('bash', ['-c', this.typed(command)], {
      cwd: this.file('work'),
      env: {...process.env, ...this.#environment(machine)},
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const ended = once(child, 'close').then(([code]): Ended => ({
      code: (code as number | null) ?? -1,
      stdout,
      stderr,
    }))
    const stop = async (): Promise<Ended> => {
      child.kill('SIGTERM')
      return await ended
    }
    this.#running.add(stop)
    void ended.then(() => this.#running.delete(stop))
    return {
      ended,
      /** Waits until it has printed this. */
      shown: async (text: string): Promise<void> => {
        while (!`${stdout}${stderr}`.includes(text)) {
          if (child.exitCode !== null) throw new Error(`${command} ended:\n${stdout}${stderr}`)
          await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
        }
      },
      stop,
    }
  }

  run = (command: string, machine?: Machine): Promise<Ended> => this.begin(command, machine).ended

  /** As a person does it who is asked. */
  async answer(command: string, answers: readonly Answer[], machine = OPERATOR): Promise<Ended> {
    const turns = answers.map(([until, type]) => ({until, type}))
    const line = `cd '${this.file('work')}' && ${this.typed(command)}`
    return await atTerminal({turns, env: this.#environment(machine)}, 'bash', '-c', line)
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#running, (stop) => stop()))
    await this.client.close()
    await removePlane(this.file('plane'))
    await rm(this.folder, {recursive: true, force: true})
  }
}
