import {createHash} from 'node:crypto'
import {TrustError} from '../errors.ts'
import type {Certificate} from './certificate.ts'

/** `sha256:` and the hexadecimal SHA-256 of a SubjectPublicKeyInfo, as `--discovery-token-ca-cert-hash` takes it. */
export type Pin = `sha256:${string}`

const PATTERN = /^sha256:([0-9a-f]{64})$/i

export function pinOf({publicKeyDer}: Pick<Certificate, 'publicKeyDer'>): Pin {
  return `sha256:${createHash('sha256').update(publicKeyDer).digest('hex')}`
}

export function parsePin(text: string): Pin {
  const digest = PATTERN.exec(text.trim())?.[1]
  if (digest !== undefined) return `sha256:${digest.toLowerCase()}`
  throw new TrustError('USAGE', `"${text}" is not a CA certificate hash`, {
    hints: [
      'a hash is "sha256:" and 64 hexadecimal digits; "trustadm token create --print-join-command" prints it',
    ],
  })
}

export const parsePins = (texts: readonly string[]): Set<Pin> => new Set(texts.map(parsePin))

/** Whether the certificate's key is one of the pinned ones. A hash is public: nothing is gained by constant time here. */
export const isPinned = (certificate: Certificate, pins: ReadonlySet<Pin>): boolean =>
  pins.has(pinOf(certificate))
