import {randomUUID} from 'node:crypto'
import {basename, dirname, extname, join} from 'node:path'
import type {UserInfo} from '../../api/meta.ts'
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

/**
 * Events of audit.k8s.io/v1 as JSON lines, in four files of limited size: people and service accounts, the server's own
 * controllers (`-controllers`), which work on what tokens ask for, nodes and bootstrap tokens (`-nodes`), and
 * unauthenticated callers (`-anonymous`). No group can push out the lines of another.
 */
class FileAuditLog implements AuditLog {
  readonly #clock: Clock
  readonly #main: LineFile
  readonly #controllers: LineFile
  readonly #nodes: LineFile
  readonly #anonymous: LineFile
  readonly #sampler = new Sampler((counted) => this.#tell(counted))

  constructor({path, clock, maxPendingBytes = 4 * MIB, onError, ...retention}: AuditLogOptions) {
    this.#clock = clock
    const open = (file: string) =>
      new LineFile({
        ...DEFAULT_RETENTION,
        ...retention,
        path: file,
        clock,
        maxPendingBytes,
        onError: onError ?? (() => undefined),
        lostLine: (lines) => this.#lostLine(lines),
      })
    this.#main = open(path)
    this.#controllers = open(beside(path, 'controllers'))
    this.#nodes = open(beside(path, 'nodes'))
    this.#anonymous = open(beside(path, 'anonymous'))
  }

  get lost(): number {
    return this.#files().reduce((sum, {lost}) => sum + lost, 0)
  }

  record(audited: AuditedRequest): void {
    const {caller, request} = audited
    const isNobody = caller === undefined || isAnonymous(caller)
    if (isNobody && !this.#sampler.isListed(audited)) return
    const file = isNobody ? this.#anonymous : this.#fileOf(caller, request.caller !== undefined)
    file.add(auditLine(audited))
  }

  async check(): Promise<void> {
    await Promise.all(this.#files().map((file) => file.check()))
  }

  async flush(): Promise<void> {
    await Promise.all(this.#files().map((file) => file.flush()))
  }

  async close(): Promise<void> {
    this.#sampler.flush()
    await Promise.all(this.#files().map((file) => file.close()))
  }

  #files(): LineFile[] {
    return [this.#main, this.#controllers, this.#nodes, this.#anonymous]
  }

  #fileOf(caller: UserInfo, isInProcess: boolean): LineFile {
    if (isInProcess) return this.#controllers
    const group = callerGroup(caller)
    return group === 'nodes' || group === 'tokens' ? this.#nodes : this.#main
  }

  #tell({code, refused = '', requests, addresses, since}: Counted): void {
    const annotations = {[ANNOTATION.requests]: String(requests), [ANNOTATION.refused]: refused}
    const until = this.#clock.now()
    const line = {auditId: randomUUID(), annotations, since, until, code, sourceIPs: addresses}
    this.#anonymous.add(JSON.stringify(summaryEvent(line)))
  }

  #lostLine(lines: number): string {
    const now = this.#clock.now()
    const annotations = {[ANNOTATION.lost]: String(lines)}
    return JSON.stringify(
      summaryEvent({auditId: randomUUID(), annotations, since: now, until: now}),
    )
  }
}
