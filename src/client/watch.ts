import type {ApiObject, HeldEvent, HeldObject, WatchEvent} from '../api/meta.ts'
import {TrustError} from '../errors.ts'
import type {ApiCaller} from './api-call.ts'
import {Cancellation} from './cancellation.ts'
import {fromStatus, isStatus} from './status-errors.ts'

/** What a watch tells: changes, and bookmarks that carry nothing but a resourceVersion. */
export interface ObjectEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
  /** What holds the object in a server in the same process. */
  held?: HeldObject<T> | undefined
}

/** An event whose object is read when somebody looks at it. */
class HeldObjectEvent<T> implements ObjectEvent<T> {
  readonly type: ObjectEvent<T>['type']
  readonly held: HeldObject<T>

  constructor(type: ObjectEvent<T>['type'], held: HeldObject<T>) {
    this.type = type
    this.held = held
  }

  get object(): T {
    return this.held.object
  }
}

export interface WatchCall {
  path: string
  query: URLSearchParams
  signal?: AbortSignal | undefined
  /** As asked of the server: one that forgets to end the watch is left soon after. */
  timeoutSeconds?: number | undefined
}

const GRACE_SECONDS = 30
const TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']

/** An event as it was received: an object of a server in the same process is only held, and read when somebody looks at it. */
export type ReceivedEvent<T> =
  | {type: ObjectEvent<T>['type']; held: HeldObject<T>}
  | {type: ObjectEvent<T>['type']; held?: undefined; object: T}

/** Streams events until the server ends the watch. An ERROR event becomes a TrustError (410: EXPIRED). */
export async function* watchEvents<T extends ApiObject>(
  caller: ApiCaller,
  call: WatchCall,
): AsyncGenerator<ObjectEvent<T>, void, undefined> {
  for await (const events of watchBatches<T>(caller, call))
    for (const event of events)
      yield event.held ? new HeldObjectEvent(event.type, event.held) : event
}

/** As `watchEvents`, those together that arrive together. */
export async function* watchBatches<T extends ApiObject>(
  caller: ApiCaller,
  {path, query, signal, timeoutSeconds}: WatchCall,
): AsyncGenerator<readonly ReceivedEvent<T>[], void, undefined> {
  const cancellation = new Cancellation(signal)
  try {
    if (timeoutSeconds !== undefined) {
      cancellation.expireAfter((timeoutSeconds + GRACE_SECONDS) * 1000, overdue)
    }
    const call = {method: 'GET', path, query, signal: cancellation.signal}
    const stream = await caller.stream(call)
    try {
      if (stream.events) for await (const events of stream.events) yield events.map(received<T>)
      else for await (const line of parseJsonLines(stream.body)) yield [toEvent<T>(line)]
    } finally {
      stream.close()
    }
  } finally {
    cancellation.release()
  }
}

const received = <T>(event: HeldEvent): ReceivedEvent<T> =>
  'held' in event ? (event as ReceivedEvent<T>) : toEvent<T>(event)

function toEvent<T>(line: unknown): ReceivedEvent<T> {
  const {type, object} = (line ?? {}) as Partial<WatchEvent<unknown>>
  if (typeof object === 'object' && object !== null && type !== undefined) {
    if (TYPES.includes(type) && 'metadata' in object) {
      return {type: type as ObjectEvent<T>['type'], object: object as T}
    }
    if (isStatus(object)) throw fromStatus(object)
  }
  throw new TrustError('SERVER_ERROR', 'the server sent something that is not a watch event')
}

function overdue(): TrustError {
  return new TrustError('TIMED_OUT', 'the server did not end the watch when it was due')
}

const NEWLINE = 0x0a
const LONGEST_LINE = 32 * 1024 * 1024

/**
 * Splits a stream at newlines and parses each line. Works on bytes until a line is complete, so a
 * chunk may end anywhere, even in the middle of a character.
 */
export async function* parseJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  longestLine = LONGEST_LINE,
): AsyncGenerator {
  let pending: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end))
      start = end + 1
      const line = Buffer.concat(pending).toString()
      pending = []
      size = 0
      if (line.trim() !== '') yield parseLine(line)
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > longestLine) {
      throw new TrustError('SERVER_ERROR', `the server sent an event of over ${longestLine} bytes`)
    }
  }
  const rest = Buffer.concat(pending).toString().trim()
  if (rest !== '') yield parseRest(rest)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    // The line is not shown: it may contain a Secret.
    throw new TrustError('SERVER_ERROR', 'the server sent an event that is not JSON')
  }
}

/** The last event may lack its newline; half an event means that the connection was lost. */
function parseRest(rest: string): unknown {
  try {
    return JSON.parse(rest) as unknown
  } catch {
    throw new TrustError(
      'SERVER_UNREACHABLE',
      'the server closed the connection in the middle of an event',
      {
        facts: {systemCode: 'ECONNRESET'},
      },
    )
  }
}
