import type {WatchEventType} from '../../api/meta.ts'
import type {ObjectEvent} from './event-log.ts'
import type {StoredObject} from './stored-object.ts'

/** How events are put into text: as objects, tables or bare metadata, in one of the served versions. */
export interface EventForm {
  /** Frames of one form are the same for every watcher. */
  id: string
  frame: (type: WatchEventType, stored: StoredObject) => string
  /** In place of the first frame of a stream, where it differs: a table's has the column definitions. */
  firstFrame?: (type: WatchEventType, stored: StoredObject) => string
  bookmark: (revision: number, initialEventsEnd: boolean) => string
}

/** The texts of one watch's events. */
export class WatchFrames {
  readonly #form: EventForm
  readonly #matches: (stored: StoredObject) => boolean
  #first = true

  constructor(form: EventForm, matches: (stored: StoredObject) => boolean) {
    this.#form = form
    this.#matches = matches
  }

  added(stored: StoredObject): string {
    return this.#frame('ADDED', stored)
  }

  /** What one change is to this watcher: an object may come into its selection or leave it. */
  change(event: ObjectEvent): string {
    const {current, previous} = event
    const matched = previous !== undefined && this.#matches(previous)
    if (current !== undefined && this.#matches(current))
      return this.#cached(event, matched ? 'MODIFIED' : 'ADDED', current)
    if (!matched) return ''
    const gone = current === undefined ? previous : previous.atRevision(event.revision)
    return this.#cached(event, 'DELETED', gone)
  }

  #cached(event: ObjectEvent, type: WatchEventType, stored: StoredObject): string {
    if (this.#first && this.#form.firstFrame !== undefined) return this.#frame(type, stored)
    return event.frame(`${type} ${this.#form.id}`, () => this.#frame(type, stored))
  }

  #frame(type: WatchEventType, stored: StoredObject): string {
    const {frame, firstFrame = frame} = this.#form
    const made = this.#first ? firstFrame(type, stored) : frame(type, stored)
    this.#first = false
    return made
  }
}
