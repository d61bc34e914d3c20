import {createHash} from 'node:crypto'
import {Backoff} from '../../client/backoff.ts'
import {authoritiesOf} from '../../discovery/cluster-info.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {Wait} from '../failures.ts'
import {kubeletState, RESTART_KUBELET} from '../kubelet-service.ts'
import {nodeFile} from '../node-files.ts'
import {runShellCommand, type ShellCommandOptions} from '../shell-command.ts'
import {type AgentRecord, type Change, CHANGES} from './agent-state.ts'
import type {Duty} from './duties.ts'
import {clientStore, type NodeHome, servingStore} from './node-home.ts'

export interface OnChangeOptions extends ShellCommandOptions {
  changes: readonly Change[]
  /** What it is called in errors. */
  what?: string
}

/** Runs the command of `--on-change`, with what has changed in its environment. */
export async function runOnChange({
  changes,
  variables,
  what = 'the command of --on-change',
  ...how
}: OnChangeOptions): Promise<void> {
  const ended = await runShellCommand({
    ...how,
    variables: {...variables, TRUSTADM_CHANGED: changes.join(',')},
  })
  if (ended === undefined) return
  throw new TrustError('ON_CHANGE_FAILED', `${what} ${ended}`, {
    hints: ['it is run again until it succeeds; see its output for the reason'],
    facts: {changes: [...changes]},
  })
}

type Fingerprints = Partial<Record<Change, string>>

/** What is run: the command of `--on-change`, or what is found out when it is needed; undefined if there is nothing to run. */
type OnChange = string | (() => Promise<string | undefined>)

/**
 * A kubelet reads its certificates and CAs only when it starts: its files were changed behind its back. One that does not run will read
 * them.
 */
export const restartKubelet = (log: (line: string) => void) => async () => {
  const state = await kubeletState()
  if (state === 'running') return RESTART_KUBELET
  if (state === 'stopped') {
    log('the kubelet does not run: it uses the new files when it starts')
    return undefined
  }
  throw new TrustError(
    'ON_CHANGE_FAILED',
    'the kubelet has to be restarted to use the new files, and no systemd runs a kubelet.service here',
    {
      hints: [
        'restart the kubelet, and say how it is restarted here with --on-change; until that succeeds, this machine does not report that it has followed',
      ],
    },
  )
}

interface AnnouncerOptions {
  /** Without one, changes are only noted. */
  command: OnChange | undefined
  /** For how many milliseconds nothing may change before it is run: then one run is enough for several changes. */
  settling?: number | undefined
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
  readonly #settling: Wait
  #seen: string | undefined
  /** Whether an earlier process has left something to announce. */
  #isInherited = false

  constructor(options: AnnouncerOptions) {
    this.#options = options
    this.#wait = new Wait(options.clock)
    this.#settling = new Wait(options.clock)
    this.#backoff = new Backoff({...BACKOFF, random: options.random})
  }

  get duty(): Duty {
    return {
      name: 'the command of --on-change',
      nextAt: () => (this.isBehind ? this.#settled() : undefined),
      work: (signal) => this.#announce(signal),
    }
  }

  /** Whether something has changed since the command last succeeded. */
  get isBehind(): boolean {
    return this.#changes().length > 0
  }

  #settled(): Date {
    const seen = JSON.stringify(this.#fingerprints())
    if (this.#seen !== seen) this.#settling.start(this.#options.settling ?? 0)
    this.#seen = seen
    return new Date(Math.max(this.#wait.until.getTime(), this.#settling.until.getTime()))
  }

  /** Notes a change that nobody has to be told of. */
  async skip(kind: 'client' | 'serving'): Promise<void> {
    const change = `${kind}-certificate` as const
    const {announced = {}} = this.#options.record.state
    await this.#note({...announced, [change]: this.#fingerprints()[change]})
  }

  retryNow(): void {
    this.#wait.end()
  }

  /** At the first start there is nothing to announce: whoever uses the files has read them as they are. */
  async begin(): Promise<void> {
    if (!this.#options.record.state.announced) await this.#note(this.#fingerprints())
    this.#isInherited = this.isBehind
  }

  async #announce(signal: AbortSignal): Promise<void> {
    const [fingerprints, changes] = [this.#fingerprints(), this.#changes()]
    try {
      await this.#run(changes, signal)
    } catch (error) {
      this.#wait.start(this.#backoff.next())
      throw error
    }
    this.#backoff.reset()
    this.#isInherited = false
    await this.#note(fingerprints)
  }

  async #run(changes: readonly Change[], signal: AbortSignal): Promise<void> {
    const {command: asked, home, log, record} = this.#options
    const isFound = typeof asked === 'function'
    // On a full disk it could not be noted, and every run of cron would restart the kubelet again.
    if (isFound && this.#isInherited) await record.save()
    const command = isFound ? await asked() : asked
    if (command === undefined) return
    log(
      isFound
        ? `running "${command}", because the kubelet reads its files only when it starts: ${changes.join(', ')}`
        : `running the command of --on-change: ${changes.join(', ')}`,
    )
    const what = isFound ? `"${command}"` : 'the command of --on-change'
    await runOnChange({command, changes, variables: variablesOf(home()), signal, what})
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
