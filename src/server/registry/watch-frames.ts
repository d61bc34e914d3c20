import type {ApiObject, HeldEvent, WatchEventType} from '../../api/meta.ts'
import type {StatusError} from '../kernel/status.ts'
import type {ObjectEvent} from './event-log.ts'
import type {StoredObject} from './stored-object.ts'

type ChangeType = Exclude<WatchEventType, 'BOOKMARK' | 'ERROR'>

/** How events are sent: as text of objects, tables or bare metadata, in one of the served versions, or as the objects themselves. */
export interface EventForm<Frame = string, Piece = string> {
  /** Texts with the same id are the same for every watcher, and are cached; absent: they are not cached. */
  id?: string
  frame: (type: ChangeType, stored: StoredObject) => Frame
  /** Replaces the first frame of a stream if it differs: that of a table has the column definitions. */
  firstFrame?: (type: ChangeType, stored: StoredObject) => Frame
  bookmark: (revision: number, initialEventsEnd: boolean) => Frame
  error: (error: StatusError) => Frame
  /** Frames that are sent together. */
  join: (frames: Frame[]) => Piece
}

/** For callers in the same process: the objects in memory. */
export const HELD_EVENTS: EventForm<HeldEvent, readonly HeldEvent[]> = {
  frame: (type, held) => ({type, held}),
  bookmark: (revision, initialEventsEnd) => ({
    type: 'BOOKMARK',
    object: bookmarkObject(revision, initialEventsEnd),
  }),
  error: ({status}) => ({type: 'ERROR', object: status}),
  join: (frames) => frames,
}

/** A bookmark without kind and apiVersion. */
export const bookmarkObject = (revision: number, initialEventsEnd: boolean): ApiObject => ({
  metadata: {
    resourceVersion: String(revision),
    ...(initialEventsEnd ? {annotations: {'k8s.io/initial-events-end': 'true'}} : {}),
  },
})

/** One watch's events as they are sent. */
export class WatchFrames<Frame> {
  readonly #form: EventForm<Frame, unknown>
  readonly #matches: (stored: StoredObject) => boolean
  readonly #keeps: boolean
  #first = true

  /** `keeps`: others are likely to want the same texts. */
  constructor(
    form: EventForm<Frame, unknown>,
    matches: (stored: StoredObject) => boolean,
    keeps = true,
  ) {
    this.#form = form
    this.#keeps = keeps
    this.#matches = matches
  }

  added(stored: StoredObject): Frame {
    return this.#frame('ADDED', stored)
  }

  /** What one change means to this watcher, if anything: an object may enter its selection or leave it. */
  change(event: ObjectEvent): Frame | undefined {
    const {current, previous} = event
    const matched = previous !== undefined && this.#matches(previous)
    if (current !== undefined && this.#matches(current))
      return this.#cached(event, matched ? 'MODIFIED' : 'ADDED', current)
    if (!matched) return undefined
    const gone = current === undefined ? previous : previous.atRevision(event.revision)
    return this.#cached(event, 'DELETED', gone)
  }

  #cached(event: ObjectEvent, type: ChangeType, stored: StoredObject): Frame {
    const {id, firstFrame} = this.#form
    if (id === undefined || !this.#keeps || (this.#first && firstFrame !== undefined))
      return this.#frame(type, stored)
    // Only texts have an id.
    const make = () => this.#frame(type, stored) as string
    return event.frame(`${type} ${id}`, make) as Frame
  }

  #frame(type: ChangeType, stored: StoredObject): Frame {
    const {frame, firstFrame = frame} = this.#form
    const made = this.#first ? firstFrame(type, stored) : frame(type, stored)
    this.#first = false
    return made
  }
}
