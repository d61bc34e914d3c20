import {TrustError} from '../errors.ts'

const SHA256 = /^[0-9a-f]{64}$/

/** A SHA-256 in hexadecimal, in whatever case. */
export function requireHash(name: string, value: string): string {
  const hash = value.trim().toLowerCase()
  if (SHA256.test(hash)) return hash
  throw new TrustError('USAGE', `--${name} must be a hash of 64 hexadecimal digits`)
}
