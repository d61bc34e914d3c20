import {messageOf, TrustError} from '../../errors.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import type {ClockLead} from '../certificate-manager/server-clock.ts'
import {nodeFile} from '../node-files.ts'

/** Why something failed. */
export interface Failure {
  code: string
  message: string
  /** The code of the system or of TLS, if that is why. */
  systemCode?: string
}

export interface CertificateState {
  /** When it was last tried to renew it. */
  lastAttempt?: string
  /** Why that failed; absent if it did not. */
  error?: Failure
  /** The request that waits for a decision. */
  pendingRequest?: string
  /** When it was last renewed. */
  lastRenewal?: string | undefined
  /** The fingerprint of a certificate that seemed due as soon as it was issued: see `CertificateManager.early`. */
  early?: string | undefined
}

/** What can change for those who use a node's files. */
export const CHANGES = ['client-certificate', 'serving-certificate', 'ca-bundle'] as const
export type Change = (typeof CHANGES)[number]

/** What `node run` has done, for the next run and for `node status`. Nothing depends on it: without it, some facts are unknown. */
export interface AgentState {
  /** The part of a certificate's life in which it is renewed, as `--rotate-at` takes it. */
  rotateAt?: string
  client: CertificateState
  serving: CertificateState
  clusterInfo: {readAt?: string; error?: Failure}
  /** Absent unless the clock of this machine was notably ahead of the server's. */
  clock?: ClockLead | undefined
  /** The fingerprints that the command of `--on-change` was last called for. */
  announced?: Partial<Record<Change, string>>
}

const NOTHING: AgentState = {client: {}, serving: {}, clusterInfo: {}}
const MOST_BYTES = 64 * 1024

export async function readAgentState(dir: string): Promise<AgentState> {
  try {
    const options = {maxBytes: MOST_BYTES}
    const text = (await readFileIfThere(nodeFile(dir, 'agentState'), options))?.toString()
    const value: unknown = text === undefined ? {} : JSON.parse(text)
    if (!hasParts(value)) return NOTHING
    const {clock, ...state} = value
    const lead = leadIn(clock)
    return {...NOTHING, ...state, ...(lead && {clock: lead})}
  } catch {
    // Written by an older version, or by hand: it is replaced as a whole.
    return NOTHING
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether all that is there has the form of its part. */
const hasParts = (value: unknown): value is Partial<AgentState> =>
  isObject(value) &&
  Object.entries(value).every(([name, part]) =>
    name === 'rotateAt' ? typeof part === 'string' : isObject(part),
  )

function leadIn(clock: object = {}): ClockLead | undefined {
  const {seconds, at} = clock as Partial<Record<keyof ClockLead, unknown>>
  const isTime = typeof at === 'string' && parseTimestamp(at) !== undefined
  return isTime && Number.isSafeInteger(seconds) ? {seconds: Number(seconds), at} : undefined
}

/** The state in memory, and on the disk after each change. */
export class AgentRecord {
  readonly #dir: string
  readonly #onError: (error: unknown) => void
  #state: AgentState
  #writes: Promise<void> = Promise.resolve()

  private constructor(dir: string, state: AgentState, onError: (error: unknown) => void) {
    this.#dir = dir
    this.#state = state
    this.#onError = onError
  }

  /** `onError` is called if a change cannot be written. Nothing else fails because of that. */
  static async open(dir: string, onError: (error: unknown) => void): Promise<AgentRecord> {
    return new AgentRecord(dir, await readAgentState(dir), onError)
  }

  get state(): AgentState {
    return this.#state
  }

  /** Resolves once it is on the disk. */
  async change(change: (state: AgentState) => AgentState): Promise<void> {
    this.#state = change(this.#state)
    await this.save().catch(() => undefined)
  }

  /** Throws if the state cannot be written now. */
  async save(): Promise<void> {
    const text = `${JSON.stringify(this.#state, undefined, 2)}\n`
    const written = this.#writes.then(() =>
      writeFileSafely(nodeFile(this.#dir, 'agentState'), text),
    )
    this.#writes = written.catch(this.#onError)
    await written
  }

  /** Resolves once every change is on the disk. */
  async settled(): Promise<void> {
    await this.#writes
  }
}

export function failureOf(error: unknown): Failure {
  const message = messageOf(error)
  if (!(error instanceof TrustError)) return {code: 'INTERNAL', message}
  const {code, facts} = error
  return typeof facts.systemCode === 'string'
    ? {code, message, systemCode: facts.systemCode}
    : {code, message}
}
