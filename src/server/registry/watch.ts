import {hasCode} from '../../errors.ts'
import type {WatchEventType} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import {StatusError} from '../status.ts'
import type {ObjectEvent} from './event-log.ts'
import {parseResourceVersion, type ListOptions} from './options.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import type {Selection} from './selection.ts'
import {atRevision, type StoredObject} from './stored-object.ts'
import {WatchWait} from './watch-wait.ts'

const BATCH = 256
const BOOKMARK_EVERY = 60_000
const ROOT = '/registry/'
/** A position before every log's first: what a watch that fell behind is at. */
const GONE = -1

/** How events are put into text: as objects, tables or bare metadata, in one of the served versions. */
export interface EventForm {
  /** Frames of one form are the same for every watcher. */
  id: string
  frame: (type: WatchEventType, stored: StoredObject) => string
  /** In place of the first frame of a stream, where it differs: a table's has the column definitions. */
  firstFrame?: (type: WatchEventType, stored: StoredObject) => string
  bookmark: (revision: number, initialEventsEnd: boolean) => string
}

export interface WatchRequest {
  options: ListOptions
  selection: Selection
  form: EventForm
  clock: Clock
  signal: AbortSignal
}

export const errorFrame = (error: StatusError) =>
  `${JSON.stringify({type: 'ERROR', object: error.status})}\n`

const tooOld = (wanted: number, current: number) =>
  new StatusError(410, 'Expired', `too old resource version: ${wanted} (${current})`)

/** What a watch starts with, decided before the answer's headers are sent. */
export function startWatch(
  registry: Registry,
  store: ResourceStore,
  request: WatchRequest,
): AsyncGenerator<string> {
  const {options} = request
  const since = parseResourceVersion(
    options.resourceVersion,
    (message) => new StatusError(500, undefined, message),
  )
  return new Watch(registry, store, request, since).run()
}

class Watch {
  readonly #registry: Registry
  readonly #store: ResourceStore
  readonly #request: WatchRequest
  readonly #since: number
  #first = true

  constructor(registry: Registry, store: ResourceStore, request: WatchRequest, since: number) {
    this.#registry = registry
    this.#store = store
    this.#request = request
    this.#since = since
  }

  async *run(): AsyncGenerator<string> {
    const {options, signal} = this.#request
    const initial =
      options.sendInitialEvents === true ||
      (options.sendInitialEvents === undefined && this.#since === 0)
    const seconds = options.timeoutSeconds ?? 1800 + Math.floor(Math.random() * 1800)
    const wait = new WatchWait(this.#store.log, seconds * 1000, signal)
    try {
      // Position and state are taken in one breath: no change can fall between them.
      let position = this.#store.log.positionAfter(initial ? this.#registry.revision : this.#since)
      if (initial) yield* this.#initialEvents()
      else if (position === undefined) {
        const until = this.#store.log.since
        const past = await this.#history(until)
        if (past === undefined) {
          yield errorFrame(tooOld(this.#since, until))
          return
        }
        yield* this.#chunks(past)
        position = this.#store.log.positionAfter(until)
      }
      yield* this.#follow(position ?? GONE, wait)
    } finally {
      wait.end()
    }
  }

  async *#follow(start: number, wait: WatchWait): AsyncGenerator<string> {
    let position = start
    let bookmarked = this.#request.clock.now().getTime()
    for (;;) {
      const events = this.#store.log.from(position, BATCH)
      if (events === undefined) {
        yield errorFrame(tooOld(position, this.#store.log.since))
        return
      }
      position += events.length
      const text = this.#framesOf(events)
      if (text !== '') yield text
      if (events.length > 0) continue
      const patience = this.#request.options.allowWatchBookmarks ? BOOKMARK_EVERY : undefined
      if ((await wait.next(patience)) === 'over') return
      const now = this.#request.clock.now().getTime()
      if (patience === undefined || now - bookmarked < BOOKMARK_EVERY) continue
      bookmarked = now
      // Only where every change up to this revision has been sent.
      if (position === this.#store.log.end)
        yield this.#request.form.bookmark(this.#registry.revision, false)
    }
  }

  *#initialEvents(): Generator<string> {
    const {options, selection, form} = this.#request
    const revision = this.#registry.revision
    let text = ''
    for (const stored of this.#store.range(selection.namespace)) {
      if (selection.matches(stored)) text += this.#frame('ADDED', stored)
    }
    if (options.sendInitialEvents === true && options.allowWatchBookmarks)
      text += form.bookmark(revision, true)
    if (text !== '') yield text
  }

  *#chunks(events: ObjectEvent[]): Generator<string> {
    for (let at = 0; at < events.length; at += BATCH) {
      const text = this.#framesOf(events.slice(at, at + BATCH))
      if (text !== '') yield text
    }
  }

  #framesOf(events: ObjectEvent[]): string {
    let text = ''
    for (const event of events) {
      if (event.revision > this.#since) text += this.#frameOf(event)
    }
    return text
  }

  /** What one change is to this watcher: an object may come into its selection or leave it. */
  #frameOf(event: ObjectEvent): string {
    const {matches} = this.#request.selection
    const {current, previous} = event
    const matched = previous !== undefined && matches(previous)
    if (current !== undefined && matches(current))
      return this.#cached(event, matched ? 'MODIFIED' : 'ADDED', current)
    if (!matched) return ''
    const gone = current === undefined ? previous : atRevision(previous, event.revision)
    return this.#cached(event, 'DELETED', gone)
  }

  #cached(event: ObjectEvent, type: WatchEventType, stored: StoredObject): string {
    if (this.#first && this.#request.form.firstFrame !== undefined) return this.#frame(type, stored)
    const key = `${type} ${this.#request.form.id}`
    const known = event.frames.get(key)
    if (known !== undefined) return known
    const made = this.#frame(type, stored)
    event.frames.set(key, made)
    return made
  }

  #frame(type: WatchEventType, stored: StoredObject): string {
    const {frame, firstFrame = frame} = this.#request.form
    const made = this.#first ? firstFrame(type, stored) : frame(type, stored)
    this.#first = false
    return made
  }

  /** Changes that memory no longer holds, up to a revision; undefined where the store has forgotten them too. */
  async #history(until: number): Promise<ObjectEvent[] | undefined> {
    const events: ObjectEvent[] = []
    const enough = new AbortController()
    const signal = AbortSignal.any([enough.signal, this.#request.signal])
    try {
      // The whole store is read, because every revision up to the last one then shows, and with it the end.
      for await (const changes of this.#registry.storage.watch(ROOT, this.#since, signal)) {
        for (const change of changes) {
          if (change.revision > until) break
          if (change.key.startsWith(this.#store.prefix)) events.push(this.#store.toEvent(change))
        }
        if ((changes.at(-1)?.revision ?? 0) >= until) break
      }
      return events
    } catch (error) {
      if (hasCode(error, 'STORE_COMPACTED')) return undefined
      throw error
    } finally {
      enough.abort()
    }
  }
}
