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
/** A piece ends once it is this long. So unread data takes no more memory than this, or than one event. */
const PIECE = 64 * 1024
const BOOKMARK_EVERY = 60_000
/** How often a watch checks whether memory has reached the revision that its caller has seen elsewhere. */
const CATCH_UP_EVERY = 20
/** kube-apiserver's --min-request-timeout. */
const MIN_TIMEOUT_SECONDS = 1800

export interface WatchRequest<Frame = string, Piece = string> {
  options: ListOptions
  selection: Selection
  form: EventForm<Frame, Piece>
  /** Ends the watch; a StatusError as its reason is sent as the last event. */
  signal: AbortSignal
  /** From 0 up to 1. */
  random: () => number
  bookmarkMilliseconds?: number
}

const tooOld = (wanted: number, current: number) =>
  new StatusError(410, 'Expired', `too old resource version: ${wanted} (${current})`)

/**
 * How long a watch lasts: half an hour to an hour, so that not all end together. As in Kubernetes, but a caller can only ask
 * for less: nobody keeps a place indefinitely.
 */
export function watchSeconds(asked: number | undefined, random: () => number): number {
  const longest = MIN_TIMEOUT_SECONDS * (1 + random())
  return asked === undefined || asked === 0 ? longest : Math.min(asked, longest)
}

/** Follows the changes of a resource. Errors in the request are thrown before anything is sent. */
export function startWatch<Frame, Piece>(
  registry: Registry,
  store: ResourceStore,
  request: WatchRequest<Frame, Piece>,
): AsyncGenerator<Piece> {
  const since = parseResourceVersion(
    request.options.resourceVersion,
    (message) => new StatusError(500, undefined, message),
  )
  return new Watch(registry, store, request, since).run()
}

/** Whether a watch begins with what is stored; a resourceVersion that is no number is refused later. */
export const sendsInitialState = ({sendInitialEvents, resourceVersion}: ListOptions): boolean =>
  sendInitialEvents ?? Number(resourceVersion) === 0

class Watch<Frame, Piece> {
  readonly #registry: Registry
  readonly #store: ResourceStore
  readonly #request: WatchRequest<Frame, Piece>
  readonly #frames: WatchFrames<Frame>
  /** The revision that the caller has named. */
  readonly #since: number
  /** The caller knows the changes up to here. */
  #seen = 0
  /** The caller wants a bookmark after the initial state. */
  #initialEndDue = false
  #nextBookmark: number

  constructor(
    registry: Registry,
    store: ResourceStore,
    request: WatchRequest<Frame, Piece>,
    since: number,
  ) {
    this.#registry = registry
    this.#store = store
    this.#request = request
    const {form, selection} = request
    // One object has one watcher as a rule: its own node.
    this.#frames = new WatchFrames(form, selection.matches, selection.name === undefined)
    this.#since = since
    this.#nextBookmark = performance.now() + this.#bookmarkEvery
  }

  async *run(): AsyncGenerator<Piece> {
    const {options, random, signal, selection, form} = this.#request
    const seconds = watchSeconds(options.timeoutSeconds, random)
    const wait = new WatchWait(this.#store.log, seconds * 1000, signal, selection.name)
    try {
      // Not in a separate generator: thousands of watches wait here, and each would keep a second one in memory.
      let position: number | undefined = yield* this.#start()
      while (position !== undefined) {
        const {frames, next} = this.#due(position)
        if (frames.length > 0) yield form.join(frames)
        if (wait.over || next === undefined) break
        const isQuiet: boolean = next === position && frames.length === 0
        position = isQuiet ? await wait.next(this.#longestQuiet()) : next
      }
    } catch (error) {
      if (hasCode(error, 'STORE_COMPACTED')) {
        yield this.#failure(tooOld(this.#since, this.#store.log.since))
      } else if (!(signal.reason instanceof StatusError)) throw error
    } finally {
      wait.end()
    }
    if (signal.reason instanceof StatusError) yield this.#failure(signal.reason)
  }

  /** Sends what comes before the live changes; returns the position in the log where those begin. */
  async *#start(): AsyncGenerator<Piece, number> {
    const {log} = this.#store
    const {sendInitialEvents} = this.#request.options
    if (sendInitialEvents ?? this.#since === 0) {
      // Position and state are read without waiting, so no change can fall between them.
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

  /** What to send at a position in the log, and the position to continue from; undefined: the log has dropped it. */
  #due(position: number): {frames: Frame[]; next: number | undefined} {
    const {log} = this.#store
    const events = log.from(position, BATCH)
    if (events === undefined) {
      const error = tooOld(this.#seen, log.since)
      return {frames: [this.#request.form.error(error)], next: undefined}
    }
    // Nothing is awaited between the look at the log and this: all changes up to the registry's revision are sent.
    if (events.length === 0) return {frames: this.#dueBookmark(), next: position}
    const {frames, taken} = this.#piece(events)
    return {frames, next: position + taken}
  }

  *#initialEvents(): Generator<Piece> {
    const {options, selection, form} = this.#request
    const {revision} = this.#registry
    const objects = [...selected(this.#store, selection, '')].filter(selection.matches)
    this.#seen = revision
    let frames: Frame[] = []
    let length = 0
    for (const stored of objects) {
      frames.push(this.#frames.added(stored))
      length += stored.json.length
      if (length < PIECE) continue
      yield form.join(frames)
      if (this.#request.signal.aborted) return
      frames = []
      length = 0
    }
    if (frames.length > 0) yield form.join(frames)
    if (options.sendInitialEvents !== true || !options.allowWatchBookmarks) return
    // The caller has seen a later state elsewhere: the initial state must not be older than that.
    if (revision < this.#since) this.#initialEndDue = true
    else yield form.join([form.bookmark(revision, true)])
  }

  #failure(error: StatusError): Piece {
    const {form} = this.#request
    return form.join([form.error(error)])
  }

  /** What the first events mean to the caller, and how many of them were read. */
  #piece(events: ObjectEvent[]): {frames: Frame[]; taken: number} {
    const frames: Frame[] = []
    let length = 0
    let taken = 0
    for (const event of events) {
      if (length >= PIECE) break
      taken++
      if (event.revision <= this.#seen) continue
      this.#seen = event.revision
      const frame = this.#frames.change(event)
      if (frame === undefined) continue
      frames.push(frame)
      length += (event.current ?? event.previous)?.json.length ?? 0
    }
    return {frames, taken}
  }

  #dueBookmark(): Frame[] {
    const {options, form} = this.#request
    const {revision} = this.#registry
    if (this.#initialEndDue && revision >= this.#since) {
      this.#initialEndDue = false
      return [form.bookmark(revision, true)]
    }
    if (!options.allowWatchBookmarks || performance.now() < this.#nextBookmark) return []
    this.#nextBookmark = performance.now() + this.#bookmarkEvery
    // A caller that waits for a later revision must not get an older one.
    return revision < this.#since ? [] : [form.bookmark(revision, false)]
  }

  /** How long to wait if nothing changes; undefined: no limit. */
  #longestQuiet(): number | undefined {
    if (this.#initialEndDue) return CATCH_UP_EVERY
    if (!this.#request.options.allowWatchBookmarks) return undefined
    return Math.max(1, this.#nextBookmark - performance.now())
  }

  get #bookmarkEvery(): number {
    return this.#request.bookmarkMilliseconds ?? BOOKMARK_EVERY
  }

  /** Sends the changes that memory no longer holds, up to a revision, from the store's history as fast as they are read. */
  async *#history(until: number): AsyncGenerator<Piece> {
    const {storage} = this.#registry
    const {prefix} = this.#store
    for await (const changes of storage.history(prefix, this.#since, until, this.#request.signal)) {
      let events = changes.flatMap((change) => this.#store.toEvent(change) ?? [])
      while (events.length > 0) {
        const {frames, taken} = this.#piece(events)
        events = events.slice(taken)
        if (frames.length > 0) yield this.#request.form.join(frames)
      }
    }
  }
}
