import {hash} from 'node:crypto'
import {TrustError} from '../errors.ts'
import type {Certificate} from './certificate.ts'

/** `sha256:` and the hexadecimal SHA-256 of a SubjectPublicKeyInfo, as `--discovery-token-ca-cert-hash` takes it. */
export type Pin = `sha256:${string}`

const PATTERN = /^sha256:([0-9a-f]{64})$/i

export function pinOf({publicKeyDer}: Pick<Certificate, 'publicKeyDer'>): Pin {
  return `sha256:${hash('sha256', publicKeyDer)}`
}

/** What a pin is for, in errors about malformed ones. */
interface PinKind {
  what: string
  where: string
}

const CA_PIN: PinKind = {
  what: 'a CA certificate hash',
  where: 'to get it, run "trustadm token create --print-join-command"',
}

export const REQUEST_PIN: PinKind = {
  what: 'the pin of a key',
  where: 'to get that of a request, run "trustadm certificate show"',
}

export function parsePin(text: string, {what, where}: PinKind = CA_PIN): Pin {
  const digest = PATTERN.exec(text.trim())?.[1]
  if (digest !== undefined) return `sha256:${digest.toLowerCase()}`
  throw new TrustError('USAGE', `"${text}" is not ${what}`, {
    hints: [`it is "sha256:" and 64 hexadecimal digits; ${where}`],
  })
}

export const parsePins = (texts: readonly string[]): Set<Pin> =>
  new Set(texts.map((text) => parsePin(text)))

/** Whether the certificate's key is pinned. Hashes are public, so the comparison need not take constant time. */
export const isPinned = (certificate: Certificate, pins: ReadonlySet<Pin>): boolean =>
  pins.has(pinOf(certificate))
