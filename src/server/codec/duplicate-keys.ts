import {BYTE, endOfString} from './json-bytes.ts'

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
