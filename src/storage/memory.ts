import {TrustError} from '../errors.ts'
import type {RecordChange, RecordStore} from './record-store.ts'
import {VersionedState} from './versioned-state.ts'
import {VersionedStorage} from './versioned-storage.ts'

/** A store that ends with the process: for tests and dry runs. */
export function openMemoryStorage(): VersionedStorage {
  return new VersionedStorage(new MemoryRecords(), new VersionedState())
}

class MemoryRecords implements RecordStore {
  readonly #values = new Map<number, Uint8Array>()

  value(revision: number): Uint8Array {
    const value = this.#values.get(revision)
    if (!value) throw new TrustError('INTERNAL', `there is no record of revision ${revision}`)
    return value
  }

  commit({put, remove}: RecordChange): Promise<void> {
    for (const {revision, value} of put) if (value) this.#values.set(revision, value)
    for (const revision of remove) this.#values.delete(revision)
    return Promise.resolve()
  }

  size(): Promise<number> {
    let bytes = 0
    for (const value of this.#values.values()) bytes += value.length
    return Promise.resolve(bytes)
  }

  close(): Promise<void> {
    this.#values.clear()
    return Promise.resolve()
  }
}
