import type {Resource} from '../kernel/resource.ts'
import {tooLarge} from '../kernel/status.ts'

/** As etcd limits a request, and so every object of a real cluster. */
const MOST_OBJECT_BYTES = 1.5 * 1024 * 1024

const encoder = new TextEncoder()

/**
 * The bytes of an object that is about to be stored, if it is small enough. A larger object of an older version may be
 * changed as long as it does not grow, so that it can be made smaller.
 */
export function storableBytes(
  {mostBytes = MOST_OBJECT_BYTES, plural}: Resource,
  text: string,
  before = '',
): Uint8Array {
  const bytes = encoder.encode(text)
  if (bytes.length <= mostBytes || bytes.length <= before.length) return bytes
  throw tooLarge(
    `Request entity too large: the object takes ${bytes.length} bytes, and one of ${plural} at most ${mostBytes}`,
  )
}
