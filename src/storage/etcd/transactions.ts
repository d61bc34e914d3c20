import {base64, numberOf, type EtcdKeys, type WireKeyValue, type WireTxn} from './messages.ts'
import type {Write} from '../write.ts'

/** What a create requires of the fence; see Fence. */
export interface FenceMark {
  key: string
  revision: number
}

/**
 * A write that happens only if the key is at the expected revision; otherwise the key's state is returned. The keys of a transaction
 * share one revision, and every change has to have its own: therefore one write each.
 */
export function transactionOf(write: Write, keys: EtcdKeys, fence: FenceMark): object {
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
  return {
    compare:
      write.type === 'create'
        ? [isAt(key, 0), isAt(fence.key, fence.revision)]
        : [isAt(key, write.revision)],
    // After an update, the state has the revision of the key's creation.
    success: write.type === 'update' ? [change, state] : [change],
    failure: [state],
  }
}

/** The key's state in an answer, if there was something to say. */
export function stateIn({responses}: WireTxn): WireKeyValue | undefined {
  return responses?.find(({response_range}) => response_range)?.response_range?.kvs?.[0]
}

/** The revisions of a key; undefined if there is no such key. */
export const keyStateOf = (wire: WireKeyValue | undefined) =>
  wire && {revision: numberOf(wire.mod_revision), created: numberOf(wire.create_revision)}
