import type {Entry} from '../storage.ts'

/** The gateway leaves out what is zero, false or empty; numbers of 64 bits are strings, bytes are base64. */
export interface WireKeyValue {
  key: string
  value?: string
  create_revision?: string
  mod_revision?: string
  version?: string
}

export interface WireHeader {
  cluster_id?: string
  member_id?: string
  revision?: string
}

export interface WireRange {
  header?: WireHeader
  kvs?: WireKeyValue[]
  count?: string
  more?: boolean
}

export interface WireTxn {
  header?: WireHeader
  succeeded?: boolean
  responses?: {response_range?: WireRange}[]
}

export interface WireLease {
  header?: WireHeader
  ID?: string
  /** Seconds. */
  TTL?: string
}

export interface WireEvent {
  type?: 'PUT' | 'DELETE'
  kv: WireKeyValue
  prev_kv?: WireKeyValue
}

export interface WireWatch {
  header?: WireHeader
  watch_id?: string
  created?: boolean
  canceled?: boolean
  cancel_reason?: string
  compact_revision?: string
  fragment?: boolean
  events?: WireEvent[]
}

export const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64')

export const numberOf = (text: string | undefined): number => Number(text ?? 0)

export const revisionOf = ({header}: {header?: WireHeader}): number => numberOf(header?.revision)

/** Bytes of their own: a slice of Buffer's pool would keep more in memory than it holds. */
function bytesOf(text = ''): Uint8Array {
  const decoded = Buffer.from(text, 'base64')
  const bytes = new Uint8Array(decoded.length)
  bytes.set(decoded)
  return bytes
}

/** Keys are ours only below the prefix, which is cut off. */
export class EtcdKeys {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  encode(key: string): string {
    return base64(this.#prefix + key)
  }

  decode(key: string): string {
    return Buffer.from(key, 'base64').toString().slice(this.#prefix.length)
  }

  /** A key of the driver itself, which no list of ours contains. */
  own(name: string): string {
    return base64(`${this.#prefix}.${name}`)
  }

  /** From a prefix, or from what follows a key, to the end of the prefix. */
  range(prefix: string, after?: string): {key: string; range_end: string} {
    const start = Buffer.from(this.#prefix + (prefix === '' ? '/' : prefix))
    const next = after === undefined ? start : Buffer.from(`${this.#prefix}${after}\0`)
    return {
      key: base64(Buffer.compare(next, start) > 0 ? next : start),
      range_end: base64(endOf(start)),
    }
  }

  entry(wire: WireKeyValue): Entry {
    return {
      key: this.decode(wire.key),
      value: bytesOf(wire.value),
      revision: numberOf(wire.mod_revision),
      created: numberOf(wire.create_revision),
    }
  }
}

/** The first key after all that start with these bytes. They are UTF-8, which has no byte 255. */
function endOf(start: Buffer): Buffer {
  const end = Buffer.from(start)
  end[end.length - 1] = (end.at(-1) ?? 0) + 1
  return end
}
