import {createHash} from 'node:crypto'
import {Backoff} from '../../client/backoff.ts'
import {authoritiesOf} from '../../discovery/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {Wait} from '../failures.ts'
import {nodeFile} from '../node-files.ts'
import {runShellCommand, type ShellCommandOptions} from '../shell-command.ts'
import {type AgentRecord, type Change, CHANGES} from './agent-state.ts'
import type {Duty} from './duties.ts'
import {clientStore, type NodeHome, servingStore} from './node-home.ts'

export interface OnChangeOptions extends ShellCommandOptions {
  changes: readonly Change[]
}

/** Runs the command of `--on-change`, with what has changed in its environment. */
export async function runOnChange({changes, variables, ...how}: OnChangeOptions): Promise<void> {
  const ended = await runShellCommand({
    ...how,
    variables: {...variables, TRUSTADM_CHANGED: changes.join(',')},
  })
  if (ended === undefined) return
  throw new TrustError('ON_CHANGE_FAILED', `the command of --on-change ${ended}`, {
    hints: ['it is run again until it succeeds; see its output for the reason'],
    facts: {changes: [...changes]},
  })
}

type Fingerprints = Partial<Record<Change, string>>

interface AnnouncerOptions {
  /** Without one, changes are only noted. */
  command: string | undefined
  home: () => NodeHome
  client: () => Pair | undefined
  serving: () => Pair | undefined
  record: AgentRecord
  clock: Clock
  random: () => number
  log: (line: string) => void
}

/** A daemon that does not start is restarted again after 10 s, and in the end every 5 minutes. */
const BACKOFF = {base: 10_000, max: 300_000}

/**
 * Runs the command of `--on-change` for what has changed since it last succeeded. That is kept on the disk, so that a change is
 * announced even if this process was killed right after it.
 */
export class Announcer {
  readonly #options: AnnouncerOptions
  readonly #backoff: Backoff
  readonly #wait: Wait

  constructor(options: AnnouncerOptions) {
    this.#options = options
    this.#wait = new Wait(options.clock)
    this.#backoff = new Backoff({...BACKOFF, random: options.random})
  }

  get duty(): Duty {
    return {
      name: 'the command of --on-change',
      nextAt: () => (this.#changes().length > 0 ? this.#wait.until : undefined),
      work: (signal) => this.#announce(signal),
    }
  }

  retryNow(): void {
    this.#wait.end()
  }

  /** At the first start there is nothing to announce: whoever uses the files has read them as they are. */
  async begin(): Promise<void> {
    if (!this.#options.record.state.announced) await this.#note(this.#fingerprints())
  }

  async #announce(signal: AbortSignal): Promise<void> {
    const {command, home: homeNow, log} = this.#options
    const [fingerprints, changes, home] = [this.#fingerprints(), this.#changes(), homeNow()]
    if (command !== undefined) {
      log(`running the command of --on-change: ${changes.join(', ')}`)
      try {
        await runOnChange({command, changes, variables: variablesOf(home), signal})
      } catch (error) {
        this.#wait.start(this.#backoff.next())
        throw error
      }
      this.#backoff.reset()
    }
    await this.#note(fingerprints)
  }

  #changes(): Change[] {
    const now = this.#fingerprints()
    const {announced = {}} = this.#options.record.state
    return CHANGES.filter((kind) => now[kind] !== undefined && now[kind] !== announced[kind])
  }

  #fingerprints(): Fingerprints {
    const {client, serving, home} = this.#options
    const authorities = authoritiesOf(home().info).map(({fingerprint}) => fingerprint)
    return {
      'client-certificate': client()?.certificate.fingerprint,
      'serving-certificate': serving()?.certificate.fingerprint,
      'ca-bundle': createHash('sha256').update(authorities.sort().join()).digest('hex'),
    } as Fingerprints
  }

  async #note(announced: Fingerprints): Promise<void> {
    await this.#options.record.change((state) => ({...state, announced}))
  }
}

/** What a command needs to find the files. */
const variablesOf = (home: NodeHome): Record<string, string> => ({
  TRUSTADM_NODE_DIR: home.dir,
  TRUSTADM_NODE_NAME: home.nodeName,
  TRUSTADM_KUBECONFIG: nodeFile(home.dir, 'kubeconfig'),
  TRUSTADM_CA_FILE: nodeFile(home.dir, 'ca'),
  TRUSTADM_CLIENT_CERTIFICATE: clientStore(home).current,
  TRUSTADM_SERVING_CERTIFICATE: servingStore(home).current,
})
