import {MalformedError} from './decode-error.ts'

const ALPHABET = /[A-Za-z0-9+/]/

/** Standard base64 as Go would write it back; refuses what Go's decoder refuses, at the same byte. */
export function normalizeBase64(text: string): string {
  const again = Buffer.from(text, 'base64').toString('base64')
  // The usual case: no need to check each character.
  if (again === text) return text
  const fault = base64Fault(text)
  if (fault !== undefined) throw new MalformedError(`illegal base64 data at input byte ${fault}`)
  return again
}

/** Where Go's decoder stops; line breaks are skipped as it skips them. */
function base64Fault(text: string): number | undefined {
  const isBreak = (at: number) => text[at] === '\n' || text[at] === '\r'
  let filled = 0
  for (let at = 0; at < text.length; at += 1) {
    if (isBreak(at)) continue
    if (text[at] === '=') return paddingFault(text, at, filled)
    if (!ALPHABET.test(text[at] ?? '')) return at
    filled = (filled + 1) % 4
  }
  return filled === 0 ? undefined : text.length - filled
}

function paddingFault(text: string, at: number, filled: number): number | undefined {
  if (filled < 2) return at
  const afterBreaks = (from: number) => {
    let next = from
    while (text[next] === '\n' || text[next] === '\r') next += 1
    return next
  }
  let next = afterBreaks(at + 1)
  if (filled === 2) {
    if (next >= text.length) return text.length
    if (text[next] !== '=') return next - 1
    next = afterBreaks(next + 1)
  }
  return next < text.length ? next : undefined
}
