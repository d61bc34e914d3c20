import {TrustError} from '../../errors.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {formatTimestamp} from '../../runtime.ts'

/** The part of its life, from 0 to 1, in which a certificate is renewed. */
export interface RotationWindow {
  from: number
  to: number
}

/** The kubelet's. */
export const DEFAULT_WINDOW: RotationWindow = {from: 0.7, to: 0.9}

const WINDOW = /^(0?\.\d{1,4})-(0?\.\d{1,4})$/
/** As many digits of the fingerprint as a number holds exactly. */
const DIGITS = 12

/** Reads `0.7-0.9`. */
export function parseRotationWindow(text: string, what: string): RotationWindow {
  const [, from, to] = WINDOW.exec(text.trim()) ?? []
  const window = {from: Number(from), to: Number(to)}
  if (window.from > 0 && window.from <= window.to) return window
  throw new TrustError('USAGE', `${what} is not a valid range`, {
    hints: ['use two parts of the lifetime, between 0 and 1, as in "0.7-0.9"'],
  })
}

export const formatRotationWindow = ({from, to}: RotationWindow): string => `${from}-${to}`

/**
 * Where in the window a certificate is renewed, from 0 to 1. Drawn from the certificate itself: different for each one, so that a
 * fleet spreads out, but the same for each process that looks at it, so that a restart or a run by cron does not draw again.
 */
export const drawFor = ({fingerprint}: Pick<Certificate, 'fingerprint'>): number =>
  Number.parseInt(fingerprint.slice(0, DIGITS), 16) / 16 ** DIGITS

/** When to renew a certificate, computed as the kubelet does. */
export function rotationDeadline(
  {notBefore, notAfter}: Pick<Certificate, 'notBefore' | 'notAfter'>,
  {from, to}: RotationWindow,
  draw: number,
): Date {
  const lifetime = notAfter.getTime() - notBefore.getTime()
  return new Date(notBefore.getTime() + lifetime * (from + (to - from) * draw))
}

/** How much of its remaining life one wait may take, so that there is time for more attempts; no limit once it has expired. */
export function longestWait(
  certificate: Pick<Certificate, 'notAfter'> | undefined,
  now: Date,
): number {
  const left = certificate ? certificate.notAfter.getTime() - now.getTime() : 0
  return left > 0 ? left / 4 : Infinity
}

export type Validity = 'valid' | 'expired' | 'not yet valid'

export function validityAt(
  {notBefore, notAfter}: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: Date,
): Validity {
  if (notAfter <= now) return 'expired'
  return notBefore > now ? 'not yet valid' : 'valid'
}

/** Throws if a certificate of the node is not valid yet: the cluster has issued it, so this machine's clock is wrong. */
export function requireStarted(
  certificate: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: Date,
  kind: 'client' | 'serving',
): void {
  if (validityAt(certificate, now) !== 'not yet valid') return
  throw new TrustError(
    'CLOCK_SKEWED',
    `the clock of this machine is behind: the ${kind} certificate of the node is valid from ${formatTimestamp(certificate.notBefore)}, and this machine shows ${formatTimestamp(now)}`,
    {hints: ['set the clock of this machine, preferably with NTP']},
  )
}
