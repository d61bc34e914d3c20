const MAX_FOUND = 1000

/** One step of a path: a key of an object or an index of a list. */
export type PathStep = string | number

/**
 * The paths of the keys that stand more than once in one object, in the order in which they repeat. The text must be
 * valid JSON that nests no deeper than the parser allows. Only called where there is such a key; stops at a thousand.
 */
export function findDuplicateKeys(bytes: Uint8Array): PathStep[][] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  const found: PathStep[][] = []
  /** What is open around the current position. A list has an index, an object the keys seen so far. */
  const open: {step: PathStep; seen?: Set<string>}[] = []
  let expectsKey = false

  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/gs)) {
    const top = open.at(-1)
    if (token === '{' || token === '[') {
      open.push(token === '{' ? {step: '', seen: new Set()} : {step: 0})
      expectsKey = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
      expectsKey = false
    } else if (token === ',') {
      expectsKey = top?.seen !== undefined
      if (top !== undefined && typeof top.step === 'number') top.step += 1
    } else if (expectsKey && top?.seen !== undefined) {
      const key = JSON.parse(token) as string
      top.step = key
      if (top.seen.has(key)) found.push(open.map(({step}) => step))
      if (found.length === MAX_FOUND) break
      top.seen.add(key)
      expectsKey = false
    }
  }
  return found
}
