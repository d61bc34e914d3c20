import {createHash} from 'node:crypto'
import {TrustError} from '../errors.ts'
import type {Certificate} from './certificate.ts'

/** `sha256:` and the hexadecimal SHA-256 of a SubjectPublicKeyInfo, as `--discovery-token-ca-cert-hash` takes it. */
export type Pin = `sha256:${string}`

const PATTERN = /^sha256:([0-9a-f]{64})$/i

export function pinOf({publicKeyDer}: Pick<Certificate, 'publicKeyDer'>): Pin {
  return `sha256:${createHash('sha256').update(publicKeyDer).digest('hex')}`
}

/** What a pin is of, for the error about one that is none. */
interface PinKind {
  what: string
  where: string
}

const CA_PIN: PinKind = {
  what: 'a CA certificate hash',
  where: '"trustadm token create --print-join-command" prints it',
}

export const REQUEST_PIN: PinKind = {
  what: 'the pin of a key',
  where: '"trustadm certificate show" prints that of a request',
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

/** Whether the certificate's key is one of the pinned ones. A hash is public: nothing is gained by constant time here. */
export const isPinned = (certificate: Certificate, pins: ReadonlySet<Pin>): boolean =>
  pins.has(pinOf(certificate))
