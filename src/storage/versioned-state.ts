import {TrustError} from '../errors.ts'
import {KeyIndex} from './keys.ts'
import type {RangeOptions, StorageUsage} from './storage.ts'

/** The revision of an empty store: as etcd's, so that even the first list has a revision to watch from. */
export const FIRST_REVISION = 1

/** One write of a key; `created` is 0 for a deletion. */
export interface Version {
  revision: number
  created: number
  /** The length of the value. */
  bytes: number
}

/** How far `changes` reads: at least one change, and until this many changes or bytes of values are reached. */
export interface MostChanges {
  count: number
  bytes: number
}

export interface KeyVersion {
  key: string
  version: Version
}

/** A change and what it replaced, as in the history. */
export interface LoggedChange extends KeyVersion {
  previous?: Version
}

export interface VersionRange {
  entries: KeyVersion[]
  revision: number
  remaining: number
}

interface KeyHistory {
  key: string
  versions: Version[]
}

/**
 * Which revisions every key has: the newest state, the states back to the compacted revision, and the log of changes
 * since then. It knows no values: a driver keeps those by revision. Its model is etcd's key index.
 */
export class VersionedState {
  readonly #keys = new KeyIndex<KeyHistory>()
  /** The changed key of every revision from `#logStart` on. */
  #log: KeyHistory[] = []
  #logStart = FIRST_REVISION + 1
  #compacted: number
  readonly #usage: StorageUsage = {live: 0, history: 0}

  /** A store loaded from disk gives the revision that its history is compacted at, 0 for none. */
  constructor(compacted = 0) {
    this.#compacted = compacted
    this.#logStart = Math.max(compacted, FIRST_REVISION) + 1
  }

  get revision(): number {
    return this.#logStart + this.#log.length - 1
  }

  get compacted(): number {
    return this.#compacted
  }

  get usage(): StorageUsage {
    return {...this.#usage}
  }

  /** The newest version of a key, if the key exists. */
  newest(key: string): Version | undefined {
    return alive(this.#keys.get(key)?.versions.at(-1))
  }

  /** Adds a change; changes must come in the order of their revisions. Above the compacted revision there are no gaps. */
  apply(key: string, version: Version): void {
    let history = this.#keys.get(key)
    if (!history) {
      history = {key, versions: []}
      this.#keys.add(history)
    }
    const replaced = history.versions.at(-1)?.bytes ?? 0
    this.#usage.live += version.bytes - replaced
    this.#usage.history += replaced
    history.versions.push(version)
    if (version.revision >= this.#logStart) this.#log.push(history)
  }

  range(prefix: string, options: RangeOptions = {}): VersionRange {
    const {limit = Infinity, bytes = Infinity, after, revision} = options
    const at = revision ?? this.revision
    this.#requireReadable(at)
    const entries: KeyVersion[] = []
    let remaining = 0
    let size = 0
    for (const {key, versions} of this.#keys.range(prefix, after)) {
      const version = alive(revision === undefined ? versions.at(-1) : newestAt(versions, at))
      if (!version) continue
      if (remaining > 0 || entries.length >= limit || size >= bytes) {
        remaining++
        continue
      }
      entries.push({key, version})
      size += version.bytes
    }
    return {entries, revision: at, remaining}
  }

  /** Changes above `since` under the prefix, and the revision up to which these are all. */
  changes(
    prefix: string,
    since: number,
    most: MostChanges,
  ): {changes: LoggedChange[]; through: number} {
    if (since < this.#compacted) throw compactedError(this.#compacted)
    const changes: LoggedChange[] = []
    let revision = Math.max(since, this.#logStart - 1)
    let size = 0
    while (revision < this.revision && changes.length < most.count && size < most.bytes) {
      revision++
      const history = this.#log[revision - this.#logStart]
      if (!history?.key.startsWith(prefix)) continue
      const change = changeAt(history, revision)
      changes.push(change)
      size += change.version.bytes + (change.previous?.bytes ?? 0)
    }
    return {changes, through: Math.max(revision, since)}
  }

  /** The revision to compact at, so that what was replaced later takes at most this many bytes; 0 if it already does. */
  historyWithin(bytes: number): number {
    let left = bytes
    for (let index = this.#log.length - 1; index >= 0 && this.#usage.history > bytes; index--) {
      const history = this.#log[index]
      if (history) left -= changeAt(history, this.#logStart + index).previous?.bytes ?? 0
      if (left < 0) return this.#logStart + index
    }
    return 0
  }

  /**
   * Drops the history up to and including the revision; returns the revisions whose records are no longer needed. Every key
   * keeps what it held at that revision, which later changes name as their previous value.
   */
  compact(revision: number): number[] {
    const touched = new Set(this.#log.splice(0, revision - this.#logStart + 1))
    const forgotten = [...touched].flatMap((history) => this.#prune(history, revision))
    this.#compacted = Math.max(this.#compacted, revision)
    this.#logStart = Math.max(this.#logStart, revision + 1)
    return forgotten
  }

  /** After loading: what an interrupted compaction left behind. */
  pruneLoaded(): number[] {
    return [...this.#keys.range('')].flatMap((history) => this.#prune(history, this.#compacted))
  }

  #prune(history: KeyHistory, revision: number): number[] {
    const {versions} = history
    const kept = lastIndexAt(versions, revision)
    if (kept < 0) return []
    const drop = alive(versions[kept]) ? kept : kept + 1
    const forgotten = versions.splice(0, drop).map((version) => {
      this.#usage.history -= version.bytes
      return version.revision
    })
    if (versions.length === 0) this.#keys.delete(history.key)
    return forgotten
  }

  #requireReadable(revision: number): void {
    if (revision < this.#compacted) throw compactedError(this.#compacted)
    if (!Number.isSafeInteger(revision) || revision < 0 || revision > this.revision) {
      throw new TrustError('INVALID', `revision ${revision} is not there yet`, {
        facts: {revision: this.revision},
      })
    }
  }
}

export function compactedError(compacted: number): TrustError {
  return new TrustError('STORE_COMPACTED', `the history up to revision ${compacted} is gone`, {
    hints: ['list again and go on from the revision of that list'],
    facts: {compacted},
  })
}

function changeAt({key, versions}: KeyHistory, revision: number): LoggedChange {
  const index = lastIndexAt(versions, revision)
  const version = versions[index]
  if (version?.revision !== revision) {
    throw new TrustError('INTERNAL', `the log names revision ${revision} for a key that lacks it`)
  }
  const previous = alive(versions[index - 1])
  return previous ? {key, version, previous} : {key, version}
}

function newestAt(versions: Version[], revision: number): Version | undefined {
  return versions[lastIndexAt(versions, revision)]
}

/** The last version at or below the revision; -1 if all are above. */
function lastIndexAt(versions: Version[], revision: number): number {
  let low = 0
  let high = versions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((versions[middle]?.revision ?? Infinity) <= revision) low = middle + 1
    else high = middle
  }
  return low - 1
}

function alive(version: Version | undefined): Version | undefined {
  return version?.created ? version : undefined
}
