import {tooLarge} from '../kernel/status.ts'
import {MalformedError} from './decode-error.ts'
import {BYTE, endOfString} from './json-bytes.ts'
import {jsonSyntaxFault} from './json-syntax.ts'

/** As deep as Go's decoder goes. */
export const MAX_DEPTH = 10_000
/**
 * The most entries of objects and items of lists, counted by their commas. Many small values take the parser far longer than
 * a few large ones of the same size.
 */
const MAX_VALUES = 50_000

/** The result of one pass over the bytes: depth, number of keys, number of commas. */
interface Outline {
  depth: number
  keys: number
  commas: number
}

/** Never recurses: the sender chooses the depth. */
function outline(bytes: Uint8Array): Outline {
  let depth = 0
  let deepest = 0
  let keys = 0
  let commas = 0
  for (let position = 0; position < bytes.length; position += 1) {
    switch (bytes[position]) {
      case BYTE.quote:
        position = endOfString(bytes, position)
        break
      case BYTE.colon:
        keys += 1
        break
      case BYTE.comma:
        commas += 1
        break
      case BYTE.openBrace:
      case BYTE.openBracket:
        depth += 1
        if (depth > deepest) deepest = depth
        break
      case BYTE.closeBrace:
      case BYTE.closeBracket:
        depth -= 1
        break
    }
  }
  return {depth: deepest, keys, commas}
}

export interface ParsedJson {
  value: unknown
  /** The text has more keys than the value, so some are duplicates. */
  hasDuplicates: boolean
}

/**
 * Parses JSON with Go's limits and error texts; the last of several equal keys counts, as in Go. Bodies that are processed
 * recursively before they have a type may nest less deeply than Go allows.
 */
export function parseJson(bytes: Uint8Array, mostDepth = MAX_DEPTH): ParsedJson {
  const {depth, keys, commas} = outline(bytes)
  if (depth > mostDepth) throw new MalformedError('exceeded max depth')
  if (commas > MAX_VALUES) {
    throw tooLarge(`Request entity too large: limit is ${MAX_VALUES} values in a JSON document`)
  }
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
