import {MalformedError} from './decode-error.ts'
import {jsonSyntaxFault} from './json-syntax.ts'

/** As deep as Go's decoder goes. */
const MAX_DEPTH = 10_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d

/** What one look over the bytes tells: how deep they nest, and how many keys they have. */
interface Outline {
  depth: number
  keys: number
}

/** Never recurses: depth is the sender's choice. */
function outline(bytes: Uint8Array): Outline {
  let depth = 0
  let deepest = 0
  let keys = 0
  for (let position = 0; position < bytes.length; position += 1) {
    switch (bytes[position]) {
      case QUOTE:
        position = endOfString(bytes, position)
        break
      case COLON:
        keys += 1
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1
        if (depth > deepest) deepest = depth
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1
        break
    }
  }
  return {depth: deepest, keys}
}

function endOfString(bytes: Uint8Array, start: number): number {
  let position = start + 1
  while (position < bytes.length && bytes[position] !== QUOTE) {
    position += bytes[position] === BACKSLASH ? 2 : 1
  }
  return position
}

export interface ParsedJson {
  value: unknown
  /** The text has more keys than the value: some are there twice. */
  hasDuplicates: boolean
}

/** Parses JSON with Go's limits and error texts; the last of several equal keys counts, as in Go. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const {depth, keys} = outline(bytes)
  if (depth > MAX_DEPTH) throw new MalformedError('exceeded max depth')
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch (error) {
    throw new MalformedError(jsonSyntaxFault(bytes) ?? (error as Error).message)
  }
  return {value, hasDuplicates: countKeys(value) !== keys}
}

function countKeys(root: unknown): number {
  let keys = 0
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    const values: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (!Array.isArray(value)) keys += values.length
    for (const inner of values) if (typeof inner === 'object') pending.push(inner)
  }
  return keys
}
