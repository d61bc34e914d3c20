import {rm} from 'node:fs/promises'
import {writeFileSafely} from '../../fs/files.ts'
import {every, type Clock} from '../../runtime.ts'
import {type DeletedNode, SeenClients, type SeenClientList} from './seen-clients.ts'
import {SeenLog} from './seen-log.ts'
import {readStored} from './seen-stored.ts'

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
/** Of the Nodes deleted; whoever is forgotten is taken for alive. */
const MOST_DELETED = 16_384

/**
 * Keeps the clients seen in a file, so that they are known after a restart. The file is there before the first client comes: if it is
 * lost, the list says from when on it is complete. No request waits for it or fails with it: on a full disk, what was seen since it
 * filled up is missing after a restart.
 */
export class SeenClientsFile {
  readonly clients = new SeenClients()
  readonly tokens = new SeenClients()
  readonly since: string
  readonly #options: SeenClientsFileOptions
  readonly #stop: (() => void) | undefined
  readonly #log: SeenLog | undefined
  /** When Nodes were deleted, the first one first. */
  readonly #deleted = new Map<string, string>()
  #deletions = 0
  #rounds = 0
  #written = {added: -1, lastSeen: -1}
  #writing: Promise<void> | undefined
  #hasFailed = false

  private constructor(options: SeenClientsFileOptions, stored: SeenClientList | undefined) {
    this.#options = options
    this.since = stored?.since ?? options.clock.now().toISOString()
    if (stored) {
      this.clients.restore(stored)
      this.tokens.restore(stored.tokens)
      for (const one of stored.deletedNodes ?? []) this.#keepDeleted(one)
    }
    const {path} = options
    if (path === undefined) return
    const log = new SeenLog(path, (error) => this.#failed(error))
    this.#log = log
    this.clients.onAdded = (client) => log.append({kind: 'client', ...client})
    this.tokens.onAdded = (client) => log.append({kind: 'token', ...client})
    this.#stop = every(options.everyMilliseconds ?? EVERY, () => this.#look())
  }

  /** A file that cannot be used is reported, and the list starts again from now. */
  static async open(options: SeenClientsFileOptions): Promise<SeenClientsFile> {
    const {path, clock, onError} = options
    if (path === undefined) return new SeenClientsFile(options, undefined)
    const found = await readStored(path, clock.now()).catch((error: unknown) => {
      onError('the clients seen earlier are not known', error)
      return undefined
    })
    const file = new SeenClientsFile(options, found?.stored)
    await (found?.isWhole ? file.#keep(path) : file.#write(() => SeenLog.remove(path)))
    return file
  }

  /** Notes that a Node was deleted. If that is lost, its machine is taken for alive. */
  nodeDeleted(name: string): void {
    const deleted = {name, time: this.#options.clock.now().toISOString()}
    this.#keepDeleted(deleted)
    this.#deletions += 1
    this.#log?.append({kind: 'deleted-node', ...deleted})
  }

  list(): SeenClientList {
    const deletedNodes = [...this.#deleted].map(([name, time]) => ({name, time}))
    return {since: this.since, ...this.clients.list(), tokens: this.tokens.list(), deletedNodes}
  }

  async close(): Promise<void> {
    this.#stop?.()
    await this.#writing
    const {added, lastSeen} = this.#state
    if (added !== this.#written.added || lastSeen !== this.#written.lastSeen) await this.#save()
    await this.#log?.close()
  }

  #keepDeleted({name, time}: DeletedNode): void {
    // The lines of a log may be out of order.
    if ((this.#deleted.get(name) ?? '') > time) return
    this.#deleted.delete(name)
    this.#deleted.set(name, time)
    for (const first of this.#deleted.keys()) {
      if (this.#deleted.size <= MOST_DELETED) return
      this.#deleted.delete(first)
    }
  }

  get #state() {
    const {clients, tokens} = this
    return {
      added: clients.added + tokens.added + this.#deletions,
      lastSeen: Math.max(clients.lastSeen, tokens.lastSeen),
    }
  }

  #look(): void {
    this.#rounds += 1
    const isDue = this.#rounds % ROUNDS_FOR_TIMES === 0
    const {added, lastSeen} = this.#state
    if (added === this.#written.added && !(isDue && lastSeen !== this.#written.lastSeen)) return
    // A disk that hangs must not make writes pile up.
    this.#writing ??= this.#save().finally(() => (this.#writing = undefined))
  }

  async #save(): Promise<void> {
    const full = await this.#log?.turn()
    await this.#write(async () => {
      if (full !== undefined) await rm(full, {force: true})
    })
  }

  /** Writes the whole list; then what it replaces can go. */
  async #write(removeLog: () => Promise<void>): Promise<void> {
    const {path} = this.#options
    if (path === undefined) return
    const state = this.#state
    try {
      await writeFileSafely(path, `${JSON.stringify(this.list())}\n`)
      await removeLog()
      this.#written = state
      this.#hasFailed = false
    } catch (error) {
      this.#failed(error)
    }
  }

  /** For a file that has everything, as an orderly stop leaves it: a log can have nothing that counts. */
  async #keep(path: string): Promise<void> {
    this.#written = this.#state
    await SeenLog.remove(path).catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed) this.#options.onError('cannot record which clients were seen', error)
    this.#hasFailed = true
  }
}
