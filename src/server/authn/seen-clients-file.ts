import {messageOf} from '../../errors.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import type {Clock} from '../../runtime.ts'
import {SeenClients, type StoredClients} from './seen-clients.ts'

export interface SeenClientsFileOptions {
  /** Absent: nothing is written. */
  path?: string | undefined
  clock: Clock
  onError: (message: string, error: unknown) => void
  everyMilliseconds?: number
}

const EVERY = 10_000
/** Times alone are written less often than new certificates: each of this many rounds. */
const ROUNDS_FOR_TIMES = 6
const MOST_BYTES = 64 * 1024 * 1024

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

const TEXTS = ['fingerprint', 'issuerPin', 'user', 'serial', 'userAgent', 'address'] as const
const TIMES = ['firstSeen', 'lastSeen', 'notAfter'] as const

function isClient(value: unknown): value is StoredClients['clients'][number] {
  const client = value as Partial<Record<string, unknown>> | null
  return (
    typeof client === 'object' &&
    client !== null &&
    TEXTS.every((field) => typeof client[field] === 'string') &&
    TIMES.every((field) => isTime(client[field])) &&
    Array.isArray(client.groups) &&
    client.groups.every((group) => typeof group === 'string')
  )
}

function isStored(value: unknown): value is StoredClients {
  const stored = value as Partial<StoredClients> | null
  return (
    typeof stored === 'object' &&
    isTime(stored?.since) &&
    Number.isSafeInteger(stored?.dropped) &&
    Array.isArray(stored?.clients) &&
    stored.clients.every(isClient)
  )
}

async function read(path: string): Promise<StoredClients | undefined> {
  const content = await readFileIfThere(path, {maxBytes: MOST_BYTES})
  if (content === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(content.toString())
  } catch (error) {
    throw new Error(`${path} is not JSON: ${messageOf(error)}`, {cause: error})
  }
  if (isStored(value)) return value
  throw new Error(`${path} is not a list of clients`)
}

/**
 * Keeps the clients seen in a file, so that they are known after a restart. No request waits for it or fails with it: after a crash
 * the last seconds are missing, and on a full disk everything since it filled up.
 */
export class SeenClientsFile {
  readonly clients: SeenClients
  readonly #options: SeenClientsFileOptions
  readonly #timer: NodeJS.Timeout | undefined
  #rounds = 0
  #written: {added: number; lastSeen: number}
  #writing: Promise<void> | undefined
  #hasFailed = false

  private constructor(options: SeenClientsFileOptions, clients: SeenClients) {
    this.#options = options
    this.clients = clients
    this.#written = stateOf(clients)
    if (options.path === undefined) return
    this.#timer = setInterval(() => this.#look(), options.everyMilliseconds ?? EVERY).unref()
  }

  /** A file that cannot be used is reported, and the list starts again from now. */
  static async open(options: SeenClientsFileOptions): Promise<SeenClientsFile> {
    const {path, clock, onError} = options
    const stored =
      path === undefined
        ? undefined
        : await read(path).catch((error: unknown) => {
            onError('the clients seen earlier are not known', error)
            return undefined
          })
    const clients = new SeenClients(stored ? new Date(stored.since) : clock.now())
    if (stored) clients.restore(stored)
    return new SeenClientsFile(options, clients)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    const {added, lastSeen} = stateOf(this.clients)
    if (added !== this.#written.added || lastSeen !== this.#written.lastSeen) await this.#write()
  }

  #look(): void {
    this.#rounds += 1
    const isNew = this.clients.added !== this.#written.added
    const isDue = this.#rounds % ROUNDS_FOR_TIMES === 0
    if (!isNew && !(isDue && this.clients.lastSeen !== this.#written.lastSeen)) return
    // A disk that hangs must not make writes pile up.
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
  }

  async #write(): Promise<void> {
    const {path, onError} = this.#options
    if (path === undefined) return
    const state = stateOf(this.clients)
    try {
      await writeFileSafely(path, `${JSON.stringify(this.clients.stored())}\n`)
      this.#written = state
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) onError('cannot record which clients were seen', error)
      this.#hasFailed = true
    }
  }
}

const stateOf = ({added, lastSeen}: SeenClients) => ({added, lastSeen})
