import {badRequest} from '../kernel/status.ts'

export interface CanonicalPath {
  /** Decoded; none is empty, `.` or `..`. */
  segments: string[]
  trailingSlash: boolean
  /** The path had consecutive slashes. */
  emptySegments: boolean
}

const MAX_PATH = 8192
const ENCODED_SEPARATOR = /%(?:2f|5c|00)/i
const CONTROL = /[\p{Cc}\\]/u

const refuse = (why: string) => badRequest(`the path ${why}`)

/**
 * Splits a path once for both routing and authorization, so that the router never serves what the authorizer did not check
 * (CVE-2022-3162). Throws BadRequest for dot segments, encoded slashes, bad escapes and control characters.
 */
export function canonicalSegments(path: string): CanonicalPath {
  if (!path.startsWith('/')) throw refuse('does not begin with a slash')
  if (path.length > MAX_PATH) throw refuse('is too long')
  if (ENCODED_SEPARATOR.test(path)) throw refuse('has an encoded slash, backslash or NUL')
  if (/[?#]/.test(path)) throw refuse('has a query or a fragment')

  const raw = path.split('/').slice(1)
  const trailingSlash = raw.at(-1) === ''
  const inner = trailingSlash ? raw.slice(0, -1) : raw
  const segments = inner.filter((segment) => segment !== '').map(decodeSegment)
  return {segments, trailingSlash, emptySegments: segments.length !== inner.length}
}

function decodeSegment(segment: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(segment)
  } catch {
    throw refuse('has an invalid percent-encoding')
  }
  if (decoded === '.' || decoded === '..') throw refuse('has a dot segment')
  if (CONTROL.test(decoded)) throw refuse('has a control character or a backslash')
  return decoded
}
