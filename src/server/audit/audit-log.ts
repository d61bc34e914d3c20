import {randomUUID} from 'node:crypto'
import {basename, dirname, extname, join} from 'node:path'
import type {Clock} from '../../runtime.ts'
import {callerGroup, isAnonymous} from '../kernel/users.ts'
import {ANNOTATION, auditLine, summaryEvent, type AuditedRequest} from './event.ts'
import {LineFile} from './line-file.ts'
import type {Retention} from './rotating-file.ts'
import {Sampler, type Counted} from './sampler.ts'

export interface AuditLogOptions extends Partial<Retention> {
  path: string
  clock: Clock
  /** How much may wait to be written. */
  maxPendingBytes?: number
  /** Called once whenever writing begins to fail. */
  onError?: (error: unknown) => void
}

/** Records requests, without delaying them and without making them fail. */
export interface AuditLog {
  record(audited: AuditedRequest): void
  /** Lines lost since the start. */
  readonly lost: number
  /** Throws if lines cannot be written. */
  check(): Promise<void>
  /** Resolves once everything recorded so far is written or lost. */
  flush(): Promise<void>
  close(): Promise<void>
}

const MIB = 1024 * 1024

const DEFAULT_RETENTION: Retention = {
  maxBytes: 10 * MIB,
  maxBackups: 9,
  maxAgeMilliseconds: 0,
}

const silent: AuditLog = {
  record: () => undefined,
  lost: 0,
  check: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

/** Opens the audit log; without options nothing is recorded. */
export function openAuditLog(options: AuditLogOptions | undefined): AuditLog {
  return options === undefined ? silent : new FileAuditLog(options)
}

/** `audit.log` → `audit-nodes.log` */
function beside(path: string, name: string): string {
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-${name}${extension}`)
}

/** Whose requests are in the file with this in its name; those of people are in the one without. */
const FILES = {
  people: undefined,
  serviceAccounts: 'serviceaccounts',
  nodes: 'nodes',
  tokens: 'tokens',
  /** The server's own, which work on what tokens ask for. */
  controllers: 'controllers',
  /** Callers without a credential that was accepted. */
  nobody: 'anonymous',
} as const

type Kind = keyof typeof FILES

interface Log {
  file: LineFile
  sampler: Sampler
}

/**
 * Events of audit.k8s.io/v1 as JSON lines, in a file of limited size for each kind of callers. No kind can push out the lines of another, and
 * within a kind each caller has a budget for all but the writes that were done.
 */
class FileAuditLog implements AuditLog {
  readonly #clock: Clock
  readonly #logs: Record<Kind, Log>

  constructor({path, clock, maxPendingBytes = 4 * MIB, onError, ...retention}: AuditLogOptions) {
    this.#clock = clock
    const open = (kind: Kind): Log => {
      const name = FILES[kind]
      const file = new LineFile({
        ...DEFAULT_RETENTION,
        ...retention,
        path: name === undefined ? path : beside(path, name),
        clock,
        maxPendingBytes,
        onError: onError ?? (() => undefined),
        lostLine: (lines) => this.#lostLine(lines),
      })
      return {file, sampler: new Sampler((counted) => file.add(this.#countedLine(counted)))}
    }
    this.#logs = {
      people: open('people'),
      serviceAccounts: open('serviceAccounts'),
      nodes: open('nodes'),
      tokens: open('tokens'),
      controllers: open('controllers'),
      nobody: open('nobody'),
    }
  }

  get lost(): number {
    return this.#files().reduce((sum, {lost}) => sum + lost, 0)
  }

  record(audited: AuditedRequest): void {
    const {file, sampler} = this.#logs[kindOf(audited)]
    if (sampler.isListed(audited)) file.add(auditLine(audited))
  }

  async check(): Promise<void> {
    await Promise.all(this.#files().map((file) => file.check()))
  }

  async flush(): Promise<void> {
    await Promise.all(this.#files().map((file) => file.flush()))
  }

  async close(): Promise<void> {
    for (const {sampler} of Object.values(this.#logs)) sampler.flush()
    await Promise.all(this.#files().map((file) => file.close()))
  }

  #files(): LineFile[] {
    return Object.values(this.#logs).map(({file}) => file)
  }

  #countedLine({caller, code, refused = '', requests, addresses, since}: Counted): string {
    const annotations = {[ANNOTATION.requests]: String(requests), [ANNOTATION.refused]: refused}
    const until = this.#clock.now()
    const counted = {annotations, since, until, code, sourceIPs: addresses, ...(caller && {caller})}
    return JSON.stringify(summaryEvent({auditId: randomUUID(), ...counted}))
  }

  #lostLine(lines: number): string {
    const now = this.#clock.now()
    const annotations = {[ANNOTATION.lost]: String(lines)}
    return JSON.stringify(
      summaryEvent({auditId: randomUUID(), annotations, since: now, until: now}),
    )
  }
}

function kindOf({caller, request}: AuditedRequest): Kind {
  if (caller === undefined || isAnonymous(caller)) return 'nobody'
  return request.caller === undefined ? callerGroup(caller) : 'controllers'
}
