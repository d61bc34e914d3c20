import {randomBytes} from 'node:crypto'
import type {PastEvent, StorageEvent} from '../storage.ts'
import {decide, type Write} from '../writes.ts'
import {EtcdFailure, isFull, storeError, uncertain} from './failure.ts'
import type {Gateway} from './gateway.ts'
import type {Guard} from './guard.ts'
import {readHistory} from './history.ts'
import {
  base64,
  type EtcdKeys,
  numberOf,
  revisionOf,
  type WireKeyValue,
  type WireLease,
  type WireTxn,
} from './messages.ts'

/** What a create requires of the fence; see Fence. */
interface FenceMark {
  key: string
  revision: number
}

/**
 * A write that happens only if the key is at the expected revision; otherwise the key's state is returned. The keys of a transaction
 * share one revision, and every change has to have its own: therefore one write each.
 */
function transactionOf(
  write: Write,
  keys: EtcdKeys,
  fence: FenceMark,
  guard: Guard | undefined,
): object {
  const key = keys.encode(write.key)
  const state = {request_range: {key, keys_only: true}}
  const isAt = (target: string, revision: number) => ({
    key: target,
    target: 'MOD',
    result: 'EQUAL',
    mod_revision: String(revision),
  })
  const change =
    write.type === 'delete'
      ? {request_delete_range: {key}}
      : {request_put: {key, value: base64(write.value)}}
  const required =
    write.type === 'create'
      ? [isAt(key, 0), isAt(fence.key, fence.revision)]
      : [isAt(key, write.revision)]
  return {
    compare: guard ? [...required, guard.compare] : required,
    // After an update, the state has the revision of the key's creation.
    success: write.type === 'update' ? [change, state] : [change],
    failure: guard ? [state, {request_range: guard.range}] : [state],
  }
}

/** The state of the key in an answer, and that of the mark, if there was something to say. */
function statesIn({responses = []}: WireTxn): (WireKeyValue | undefined)[] {
  const ranges = responses.flatMap(({response_range}) => response_range ?? [])
  return ranges.map(({kvs}) => kvs?.[0])
}

/** The revisions of a key; undefined if there is no such key. */
const keyStateOf = (wire: WireKeyValue | undefined) =>
  wire && {revision: numberOf(wire.mod_revision), created: numberOf(wire.create_revision)}

/** A result that is unknown at once is not asked for again at once. */
const PAUSE = 50

/**
 * Writes with a compare-and-swap. One whose answer was lost is never reported as not done: what happened to it is found out from the
 * key's history, and if that is not possible, the caller learns that nobody knows.
 */
export class Writer {
  readonly #gateway: Gateway
  readonly #keys: EtcdKeys
  readonly #guard: () => Guard | undefined
  readonly #fence: Fence

  constructor(gateway: Gateway, keys: EtcdKeys, guard: () => Guard | undefined) {
    this.#gateway = gateway
    this.#keys = keys
    this.#guard = guard
    this.#fence = new Fence(gateway, keys)
  }

  async write(write: Write): Promise<StorageEvent> {
    const {deadline} = this.#gateway
    // Whatever this write does has a later revision.
    const floor = this.#gateway.seen
    let lost: EtcdFailure | undefined
    for (;;) {
      const mark = await this.#markFor(write, deadline, lost)
      try {
        const guard = this.#guard()
        const body = transactionOf(write, this.#keys, mark, guard)
        const answer = await this.#gateway.call<WireTxn>('kv/txn', body, {once: true, deadline})
        const revision = revisionOf(answer)
        const [wire, marked] = statesIn(answer)
        const state = keyStateOf(wire)
        if (answer.succeeded) return resultOf(write, revision, state?.created ?? revision)
        if (lost) {
          const done = await this.#find(write, floor, revision)
          if (done) return done
        }
        if (await guard?.hasChanged(marked)) continue
        decide(write, state, revision)
        // The key is as it must be: the fence has moved, or its lease has ended.
        if (mark.revision === this.#fence.mark.revision) await this.#fence.build(deadline)
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error
        if (isFull(error)) {
          const done = await this.#findApplied(write, floor, deadline)
          if (done) return done
        }
        const isKnown = error.kind !== 'unknown' && lost === undefined
        if (isKnown) throw storeError(error)
        if (error.kind !== 'unknown' || performance.now() >= deadline) throw uncertain(error)
        lost = error
        const done =
          write.type === 'create' ? await this.#fenceOff(write, floor, deadline) : undefined
        if (done) return done
        await this.#gateway.pause(PAUSE)
      }
    }
  }

  /** A create waits until there is a fence; if that fails, it was not sent. */
  async #markFor(
    {type}: Write,
    deadline: number,
    lost: EtcdFailure | undefined,
  ): Promise<FenceMark> {
    try {
      if (type === 'create' && this.#fence.mark.revision === 0) await this.#fence.build(deadline)
      return this.#fence.mark
    } catch (error) {
      throw lost ? uncertain(error) : storeError(error)
    }
  }

  /** A member that finds its quota exceeded when it applies a write says that it is full, and has done the write. */
  async #findApplied(
    write: Write,
    floor: number,
    deadline: number,
  ): Promise<StorageEvent | undefined> {
    try {
      const probe = {key: this.#keys.own('probe'), count_only: true}
      const answer = await this.#gateway.call('kv/range', probe, {deadline})
      return await this.#find(write, floor, revisionOf(answer))
    } catch (error) {
      throw error instanceof EtcdFailure ? uncertain(error) : error
    }
  }

  /** A create whose answer was lost has either happened now, or never will. */
  async #fenceOff(
    write: Write,
    floor: number,
    deadline: number,
  ): Promise<StorageEvent | undefined> {
    try {
      return await this.#find(write, floor, await this.#fence.move(deadline))
    } catch (error) {
      throw error instanceof EtcdFailure ? uncertain(error) : error
    }
  }

  /** The event of this write, if it is in the key's history up to a revision after which it cannot happen any more. */
  async #find(write: Write, floor: number, until: number): Promise<StorageEvent | undefined> {
    const range = {key: this.#keys.encode(write.key), since: floor, until}
    const {signal} = new AbortController()
    try {
      for await (const batch of readHistory(this.#gateway, this.#keys, {...range, signal}))
        for (const event of batch) {
          const verdict = compare(write, event)
          if (verdict === 'maybe')
            throw uncertain(new Error('another write may have done the same'))
          if (verdict === 'ours') return resultOf(write, event.revision, event.entry?.created ?? 0)
        }
    } catch (error) {
      throw uncertain(error)
    }
    return undefined
  }
}

/** Whether a change is that of the write. Somebody else's is not: two writers do not put the same bytes on the same revision. */
function compare(write: Write, {entry, previous}: PastEvent): 'ours' | 'maybe' | 'no' {
  const isCreated = entry !== undefined && entry.created === entry.revision
  if (write.type === 'create')
    return isCreated && Buffer.compare(entry.value, write.value) === 0 ? 'ours' : 'no'
  // The history before may be compacted.
  if (previous === undefined) return isCreated ? 'no' : 'maybe'
  if (previous.revision !== write.revision) return 'no'
  if (write.type === 'delete') return entry ? 'no' : 'maybe'
  return entry && Buffer.compare(entry.value, write.value) === 0 ? 'ours' : 'no'
}

function resultOf(write: Write, revision: number, created: number): StorageEvent {
  const {type, key} = write
  if (type === 'delete') return {type: 'delete', key, revision}
  const entry = {key, value: write.value, revision, created: type === 'create' ? revision : created}
  return {type: 'put', key, revision, entry}
}

/** So long after its last move a fence is gone, and the next create moves it again. */
const KEPT_SECONDS = 3_600

/**
 * A create whose answer was lost may wait at a stopped member and happen much later. Every create requires that this process's fence
 * key is at a revision; moving the fence makes sure that no earlier one can happen any more. There is a fence from the first create on:
 * one that required none could happen once the fence has ended, and bring back what was deleted since. (An update or a deletion needs no
 * fence: it can happen only while the key is at the revision that it names.)
 */
class Fence {
  readonly #gateway: Gateway
  readonly #key: string
  #revision = 0
  #building: Promise<unknown> | undefined

  constructor(gateway: Gateway, keys: EtcdKeys) {
    this.#gateway = gateway
    this.#key = keys.own(`fence-${randomBytes(8).toString('hex')}`)
  }

  get mark(): FenceMark {
    return {key: this.#key, revision: this.#revision}
  }

  /** For all who find that there is none. */
  async build(deadline: number): Promise<void> {
    this.#building ??= this.move(deadline).finally(() => (this.#building = undefined))
    await this.#building
  }

  /** After this, no create with an earlier mark can happen. Returns the revision of the move. */
  async move(deadline: number): Promise<number> {
    const grant = {TTL: String(KEPT_SECONDS), ID: '0'}
    const {ID} = await this.#gateway.call<WireLease>('lease/grant', grant, {deadline})
    const put = {key: this.#key, value: '', lease: ID}
    const moved = revisionOf(await this.#gateway.call('kv/put', put, {deadline}))
    // Two moves may be answered in another order.
    this.#revision = Math.max(this.#revision, moved)
    return moved
  }
}
