import {hasCode} from '../../errors.ts'
import {StatusError} from '../kernel/status.ts'
import {GONE, type ObjectEvent} from './event-log.ts'
import {selected} from './list.ts'
import {parseResourceVersion, type ListOptions} from './options.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import type {Selection} from './selection.ts'
import {WatchFrames, type EventForm} from './watch-frames.ts'
import {WatchWait} from './watch-wait.ts'

const BATCH = 256
/** A piece that is sent ends once it is so long: what a caller leaves unread takes no more memory, or one event's. */
const PIECE = 64 * 1024
const BOOKMARK_EVERY = 60_000
/** How often a watch looks whether the revision that its caller has seen elsewhere has come here too. */
const CATCH_UP_EVERY = 20
/** kube-apiserver's --min-request-timeout. */
const MIN_TIMEOUT_SECONDS = 1800

export interface WatchRequest {
  options: ListOptions
  selection: Selection
  form: EventForm
  /** Ends the watch; a StatusError as its reason is the last that the caller is told. */
  signal: AbortSignal
  /** From 0 up to 1. */
  random: () => number
  bookmarkMilliseconds?: number
}

const errorFrame = (error: StatusError) =>
  `${JSON.stringify({type: 'ERROR', object: error.status})}\n`

const tooOld = (wanted: number, current: number) =>
  new StatusError(410, 'Expired', `too old resource version: ${wanted} (${current})`)

/**
 * How long a watch lasts: half an hour to an hour, so that not all end together. As Kubernetes, but that a caller can ask
 * for less only: nobody keeps a place indefinitely.
 */
export function watchSeconds(asked: number | undefined, random: () => number): number {
  const longest = MIN_TIMEOUT_SECONDS * (1 + random())
  return asked === undefined || asked === 0 ? longest : Math.min(asked, longest)
}

/** Follows the changes of a resource. What is wrong with the request is thrown before anything is sent. */
export function startWatch(
  registry: Registry,
  store: ResourceStore,
  request: WatchRequest,
): AsyncGenerator<string> {
  const since = parseResourceVersion(
    request.options.resourceVersion,
    (message) => new StatusError(500, undefined, message),
  )
  return new Watch(registry, store, request, since).run()
}

class Watch {
  readonly #registry: Registry
  readonly #store: ResourceStore
  readonly #request: WatchRequest
  readonly #frames: WatchFrames
  /** The revision that the caller has named. */
  readonly #since: number
  /** Changes up to here are known to the caller. */
  #seen = 0
  /** The caller is to be told when it has seen the initial state. */
  #initialEndDue = false
  #nextBookmark: number

  constructor(registry: Registry, store: ResourceStore, request: WatchRequest, since: number) {
    this.#registry = registry
    this.#store = store
    this.#request = request
    this.#frames = new WatchFrames(request.form, request.selection.matches)
    this.#since = since
    this.#nextBookmark = performance.now() + this.#bookmarkEvery
  }

  async *run(): AsyncGenerator<string> {
    const {options, random, signal, selection} = this.#request
    const seconds = watchSeconds(options.timeoutSeconds, random)
    const wait = new WatchWait(this.#store.log, seconds * 1000, signal, selection.name)
    try {
      yield* this.#follow(yield* this.#start(), wait)
    } catch (error) {
      if (hasCode(error, 'STORE_COMPACTED')) {
        yield errorFrame(tooOld(this.#since, this.#store.log.since))
      } else if (!(signal.reason instanceof StatusError)) throw error
    } finally {
      wait.end()
    }
    if (signal.reason instanceof StatusError) yield errorFrame(signal.reason)
  }

  /** Sends what comes before the live changes; answers the position in the log that those begin at. */
  async *#start(): AsyncGenerator<string, number> {
    const {log} = this.#store
    const {sendInitialEvents} = this.#request.options
    if (sendInitialEvents ?? this.#since === 0) {
      // Position and state are taken in one breath: no change can fall between them.
      const position = log.end
      yield* this.#initialEvents()
      return position
    }
    if (this.#since === 0) return log.end
    this.#seen = this.#since
    const position = log.positionAfter(this.#since)
    if (position !== undefined) return position
    const until = log.since
    yield* this.#history(until)
    return log.positionAfter(until) ?? GONE
  }

  async *#follow(start: number, wait: WatchWait): AsyncGenerator<string> {
    let position = start
    for (;;) {
      const events = this.#store.log.from(position, BATCH)
      if (events === undefined) {
        yield errorFrame(tooOld(this.#seen, this.#store.log.since))
        return
      }
      const changes = this.#piece(events)
      position += changes.taken
      // Nothing is awaited between the look at the log and this: all changes up to the registry's revision are sent.
      const text = changes.text || (events.length === 0 ? this.#dueBookmark() : '')
      if (text !== '') yield text
      if (wait.over) return
      if (events.length > 0 || text !== '') continue
      const next = await wait.next(this.#longestQuiet())
      if (next === undefined) return
      position = next
    }
  }

  *#initialEvents(): Generator<string> {
    const {options, selection, form} = this.#request
    const {revision} = this.#registry
    const objects = [...selected(this.#store, selection, '')].filter(selection.matches)
    this.#seen = revision
    let text = ''
    for (const stored of objects) {
      text += this.#frames.added(stored)
      if (text.length < PIECE) continue
      yield text
      if (this.#request.signal.aborted) return
      text = ''
    }
    if (text !== '') yield text
    if (options.sendInitialEvents !== true || !options.allowWatchBookmarks) return
    // The caller has seen a later state elsewhere: what it is told to be whole must not be older than that.
    if (revision < this.#since) this.#initialEndDue = true
    else yield form.bookmark(revision, true)
  }

  /** The text of the first events, and how many of them are in it. */
  #piece(events: ObjectEvent[]): {text: string; taken: number} {
    let text = ''
    let taken = 0
    for (const event of events) {
      if (text.length >= PIECE) break
      taken++
      if (event.revision <= this.#seen) continue
      this.#seen = event.revision
      text += this.#frames.change(event)
    }
    return {text, taken}
  }

  #dueBookmark(): string {
    const {options, form} = this.#request
    const {revision} = this.#registry
    if (this.#initialEndDue && revision >= this.#since) {
      this.#initialEndDue = false
      return form.bookmark(revision, true)
    }
    if (!options.allowWatchBookmarks || performance.now() < this.#nextBookmark) return ''
    this.#nextBookmark = performance.now() + this.#bookmarkEvery
    // A caller that waits for a revision to come must not be sent back behind it.
    return revision < this.#since ? '' : form.bookmark(revision, false)
  }

  /** How long there is nothing to do but for a change; undefined: no limit. */
  #longestQuiet(): number | undefined {
    if (this.#initialEndDue) return CATCH_UP_EVERY
    if (!this.#request.options.allowWatchBookmarks) return undefined
    return Math.max(1, this.#nextBookmark - performance.now())
  }

  get #bookmarkEvery(): number {
    return this.#request.bookmarkMilliseconds ?? BOOKMARK_EVERY
  }

  /** Sends the changes that memory no longer holds, up to a revision, from the store's history as fast as they are read. */
  async *#history(until: number): AsyncGenerator<string> {
    const {storage} = this.#registry
    const {prefix} = this.#store
    for await (const changes of storage.history(prefix, this.#since, until, this.#request.signal)) {
      let events = changes.flatMap((change) => this.#store.toEvent(change) ?? [])
      while (events.length > 0) {
        const {text, taken} = this.#piece(events)
        events = events.slice(taken)
        if (text !== '') yield text
      }
    }
  }
}
