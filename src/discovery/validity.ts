import {elsewhere, type ErrorCode, TrustError, type Hint} from '../errors.ts'
import type {Certificate} from '../pki/certificate.ts'

export interface Times {
  now: Date
  /** The time of the server's clock. Not trusted: it only tells which of the two clocks is more likely to be wrong. */
  serverTime?: Date | undefined
}

type Validity = Pick<Certificate, 'notBefore' | 'notAfter'>

/** Refuses a bundle in which no CA is valid now; during a rotation, an old one may have expired. */
export function requireCurrentAuthorities(authorities: readonly Validity[], times: Times): void {
  if (authorities.length === 0 || authorities.some((one) => contains(one, times.now))) return
  const [latest] = [...authorities].sort((a, b) => b.notAfter.getTime() - a.notAfter.getTime())
  if (latest) {
    throw untimely(latest, times, {
      what: "the cluster's CA",
      code: 'CA_EXPIRED',
      hints: ['replace the CA on the control plane: machines cannot join without a valid one'],
    })
  }
}

/** Refuses a server's certificate that is not valid now. */
export function requireCurrentServer(
  certificate: Validity,
  server: string,
  times: Times,
  isWebServer = false,
): void {
  if (contains(certificate, times.now)) return
  throw untimely(certificate, times, {
    what: `the certificate of ${server}`,
    code: 'SERVER_CERTIFICATE_EXPIRED',
    server,
    hints: [
      isWebServer
        ? 'the operator of the web server has to renew it; until then, copy the file to this machine and use its path'
        : elsewhere('renew it with "trustadm certificate renew" on the control plane'),
    ],
  })
}

interface Untimely {
  what: string
  code: ErrorCode
  hints: Hint[]
  server?: string
}

function untimely(
  {notBefore, notAfter}: Validity,
  {now, serverTime}: Times,
  {what, code, hints, server}: Untimely,
): TrustError {
  const facts = {
    now: now.toISOString(),
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
    ...(serverTime && {serverTime: serverTime.toISOString()}),
    ...(server !== undefined && {server}),
  }
  if (now < notBefore) {
    const behind = span(notBefore.getTime() - now.getTime())
    return new TrustError(
      'CLOCK_SKEWED',
      `the clock of this machine is at least ${behind} behind: ${what} is valid from ${facts.notBefore}, and this machine shows ${facts.now}`,
      {facts, hints: SET_CLOCK},
    )
  }
  if (serverTime && contains({notBefore, notAfter}, serverTime)) {
    const ahead = span(now.getTime() - serverTime.getTime())
    return new TrustError(
      'CLOCK_SKEWED',
      `the clock of this machine is ${ahead} ahead of the server's: ${what} is valid until ${facts.notAfter}, and this machine shows ${facts.now}`,
      {facts, hints: SET_CLOCK},
    )
  }
  const ago = span(now.getTime() - notAfter.getTime())
  return new TrustError(code, `${what} expired ${ago} ago, at ${facts.notAfter}`, {
    facts,
    hints: [...hints, `check the clock of this machine: it shows ${facts.now}`],
  })
}

const SET_CLOCK = ['set the clock of this machine, preferably with NTP, and try again']

const UNITS: [string, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** A duration for people, rounded down: `3 days`, `1 hour`, `20 seconds`. */
export function span(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ['second', 1000]
  const count = Math.floor(milliseconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function contains({notBefore, notAfter}: Validity, time: Date): boolean {
  return time >= notBefore && time <= notAfter
}
