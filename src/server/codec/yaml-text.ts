import {MalformedError} from './decode-error.ts'

const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const HALF_ESCAPED = /\\[uU](?:0000)?[dD][89A-Fa-f]/
const HALF_A_CHARACTER = /\p{Surrogate}/u

/** The text of a YAML body. Refuses the bytes and characters that Go's parser refuses, which would be stored otherwise. */
export function yamlText(bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(bytes)
  } catch {
    throw new MalformedError('yaml: invalid UTF-8')
  }
  if (FORBIDDEN.test(text)) throw new MalformedError('yaml: control characters are not allowed')
  return text
}

/** The value, which holds no half of a character: an escape can write one, whatever the bytes are. */
export function withWholeCharacters(value: unknown, text: string): unknown {
  if (!HALF_ESCAPED.test(text)) return value
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string' && HALF_A_CHARACTER.test(next)) {
      throw new MalformedError('yaml: found invalid Unicode character escape code')
    }
    if (typeof next === 'object' && next !== null) {
      for (const [key, inner] of Object.entries(next)) pending.push(key, inner)
    }
  }
  return value
}
