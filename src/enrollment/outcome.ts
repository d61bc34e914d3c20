import type {CertificateSigningRequest} from '../api/certificates.ts'
import {printable, shellWord} from '../client/printable.ts'
import {DENIED, FAILED, findCondition, stateOf} from '../csr/conditions.ts'
import {TrustError} from '../errors.ts'

type Csr = CertificateSigningRequest

type OutcomeCode =
  | 'CERTIFICATE_DENIED'
  | 'CERTIFICATE_FAILED'
  | 'CERTIFICATE_PENDING'
  | 'CERTIFICATE_REQUEST_DELETED'

/** What else helps the caller, by the code of the error. */
export type OutcomeHints = Partial<Record<OutcomeCode, readonly string[]>>

export const nameOf = ({metadata}: Pick<Csr, 'metadata'>): string => metadata.name ?? ''

export const approveCommand = (name: string): string =>
  `trustadm certificate approve ${shellWord(name)}`

const showCommand = (csr: Csr): string => `trustadm certificate show ${shellWord(nameOf(csr))}`

/** The PEM that the signer returned, unchanged; undefined if there is none yet. */
export function issuedPem({status}: Pick<Csr, 'status'>): string | undefined {
  const {certificate = ''} = status ?? {}
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString()
}

/** Whether waiting longer cannot help. */
export const isRefused = (csr: Csr): boolean => ['Denied', 'Failed'].includes(stateOf(csr))

/** Why a request has no certificate, or none yet. */
export function withoutCertificate(csr: Csr, hints: OutcomeHints = {}): TrustError {
  const request = `the certificate request "${printable(nameOf(csr))}"`
  const fail = (code: OutcomeCode, message: string, advice: string[], facts = {}) =>
    new TrustError(code, message, {
      facts: {request: nameOf(csr), ...facts},
      hints: [...advice, ...(hints[code] ?? [])],
    })
  const {reason = '', message = ''} = findCondition(csr, DENIED) ?? findCondition(csr, FAILED) ?? {}
  const facts = {reason, message}
  switch (stateOf(csr)) {
    case 'Denied':
      return fail(
        'CERTIFICATE_DENIED',
        `${request} was denied${because(facts)}`,
        [`"${showCommand(csr)}" shows what it asked for and who decided`],
        facts,
      )
    case 'Failed':
      return fail(
        'CERTIFICATE_FAILED',
        `the signer refused ${request}${because(facts)}`,
        [`"${showCommand(csr)}" shows what it asked for`],
        facts,
      )
    case 'Approved':
      return fail('CERTIFICATE_PENDING', `${request} is approved, but not signed yet`, [
        `check that a signer for ${printable(csr.spec.signerName)} is running in the cluster`,
      ])
    default:
      return fail('CERTIFICATE_PENDING', `nobody has approved ${request} yet`, [
        `"${showCommand(csr)}" shows what it is waiting for`,
        `an administrator can approve it with "${approveCommand(nameOf(csr))}"`,
      ])
  }
}

function because({reason, message}: {reason: string; message: string}): string {
  const parts = [reason, message].filter((text) => text !== '').map(printable)
  return parts.length === 0 ? '' : ` (${parts.join(': ')})`
}

export function requestDeleted(csr: Csr): TrustError {
  return new TrustError(
    'CERTIFICATE_REQUEST_DELETED',
    `the certificate request "${printable(nameOf(csr))}" was deleted`,
    {facts: {request: nameOf(csr)}, hints: ['run the command again to ask again']},
  )
}

/** Timed out while the server could not be reached. */
export function stateUnknown(csr: Csr, trouble: TrustError, hints: OutcomeHints): TrustError {
  return new TrustError(
    'CERTIFICATE_PENDING',
    `the state of the certificate request "${printable(nameOf(csr))}" is unknown: ${trouble.message}`,
    {
      cause: trouble,
      facts: {request: nameOf(csr)},
      hints: [...trouble.hints, ...(hints.CERTIFICATE_PENDING ?? [])],
    },
  )
}
