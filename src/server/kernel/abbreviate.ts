const DOTS = '...'
/** A control character takes six bytes as `\u0001`; nothing takes more. */
const MOST_BYTES_A_CHARACTER = 6
const HALF_A_CHARACTER = /[\ud800-\udbff]$/

/** The bytes that a text takes in a JSON response. */
export const encodedBytes = (text: string) => Buffer.byteLength(JSON.stringify(text))

/**
 * Cuts a text so that it takes at most this many bytes in a JSON response. Callers may send megabytes, which error messages
 * repeat.
 */
export function abbreviate(text: string, most: number): string {
  if (text.length * MOST_BYTES_A_CHARACTER < most) return text
  let kept = text.slice(0, most)
  let bytes = encodedBytes(kept)
  if (kept.length === text.length && bytes <= most) return text
  const room = most - DOTS.length
  while (bytes > room) {
    kept = kept.slice(0, Math.floor(kept.length * (room / bytes)))
    bytes = encodedBytes(kept)
  }
  return kept.replace(HALF_A_CHARACTER, '') + DOTS
}

/** A value as JSON, cut in the same way. Reads only the part that is shown. */
export function abbreviatedJson(value: unknown, most: number): string {
  let text = ''
  for (const part of jsonParts(value, most)) {
    text += part
    if (text.length > most) break
  }
  return abbreviate(text, most)
}

function* jsonParts(value: unknown, most: number): Generator<string> {
  if (typeof value === 'string') {
    yield JSON.stringify(value.slice(0, most))
  } else if (Array.isArray(value)) {
    let separator = '['
    for (const item of value) {
      yield separator
      yield* jsonParts(item, most)
      separator = ','
    }
    yield value.length === 0 ? '[]' : ']'
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>
    let separator = '{'
    for (const name in fields) {
      if (fields[name] === undefined) continue
      yield `${separator}${JSON.stringify(name.slice(0, most))}:`
      yield* jsonParts(fields[name], most)
      separator = ','
    }
    yield separator === '{' ? '{}' : '}'
  } else {
    yield value === undefined ? 'null' : JSON.stringify(value)
  }
}
