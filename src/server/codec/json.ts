import {tooLarge} from '../kernel/status.ts'
import {MalformedError} from './decode-error.ts'
import {jsonSyntaxFault} from './json-syntax.ts'

/** The bytes that JSON's structure is made of. */
const BYTE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

/** Where the string ends that begins at `start`: at its second quote, or at the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let position = start + 1
  while (position < bytes.length && bytes[position] !== BYTE.quote) {
    position += bytes[position] === BYTE.backslash ? 2 : 1
  }
  return position
}

/** One step of a path: a key of an object or an index of a list. */
export type PathStep = string | number

/** What is open around the current position. A list has an index, an object the keys seen so far. */
interface Open {
  step: PathStep
  seen?: Set<string>
}

/**
 * The paths of duplicate keys, in the order in which they repeat, at most `most`. The text must be valid JSON that nests no
 * deeper than the parser allows. Only called if there is such a key.
 */
export function findDuplicateKeys(bytes: Uint8Array, most: number): PathStep[][] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const found: PathStep[][] = []
  const open: Open[] = []
  let expectsKey = false
  for (let position = 0; position < bytes.length && found.length < most; position += 1) {
    const top = open.at(-1)
    switch (bytes[position]) {
      case BYTE.openBrace:
        open.push({step: '', seen: new Set()})
        expectsKey = true
        break
      case BYTE.openBracket:
        open.push({step: 0})
        expectsKey = false
        break
      case BYTE.closeBrace:
      case BYTE.closeBracket:
        open.pop()
        expectsKey = false
        break
      case BYTE.comma:
        expectsKey = top?.seen !== undefined
        if (top !== undefined && typeof top.step === 'number') top.step += 1
        break
      case BYTE.quote: {
        const end = endOfString(bytes, position)
        if (expectsKey && top?.seen !== undefined) {
          const key = JSON.parse(text.toString('utf8', position, end + 1)) as string
          top.step = key
          if (top.seen.has(key)) found.push(open.map(({step}) => step))
          top.seen.add(key)
          expectsKey = false
        }
        position = end
      }
    }
  }
  return found
}

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

interface ParsedJson {
  value: unknown
  /** The text has more keys than the value, so some are duplicates. */
  hasDuplicates: boolean
  /** About how many values the text has. */
  values: number
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
  return {value, hasDuplicates: countKeys(value) !== keys, values: commas + 1}
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
