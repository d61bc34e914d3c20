import {TrustError} from '../errors.ts'
import type {StorageEvent} from './storage.ts'
import type {Version} from './versioned-state.ts'

/** A write that waits for a commit. */
export type Write =
  | {type: 'create'; key: string; value: Uint8Array}
  | {type: 'update'; key: string; value: Uint8Array; revision: number}
  | {type: 'delete'; key: string; revision: number}

/** What a decision needs to know of a key; its value is not read. */
export type KeyState = Pick<Version, 'created' | 'revision'>

/** The result of a write at this revision, given the current version of its key; throws if the write is not allowed. */
export function decide(
  write: Write,
  previous: KeyState | undefined,
  revision: number,
): StorageEvent {
  const {key} = write
  if (write.type === 'create') {
    if (previous) throw new TrustError('ALREADY_EXISTS', `the key "${key}" is there already`)
    const entry = {key, value: write.value, revision, created: revision}
    return {type: 'put', key, revision, entry}
  }
  if (!previous) throw new TrustError('NOT_FOUND', `there is no key "${key}"`)
  if (previous.revision !== write.revision) {
    throw new TrustError(
      'CONFLICT',
      `the key "${key}" is at revision ${previous.revision}, not ${write.revision}`,
      {facts: {revision: previous.revision}},
    )
  }
  if (write.type === 'delete') return {type: 'delete', key, revision}
  const entry = {key, value: write.value, revision, created: previous.created}
  return {type: 'put', key, revision, entry}
}
