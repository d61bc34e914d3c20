import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {printable} from '../../client/printable.ts'
import {isMissingObject} from '../../client/status-errors.ts'
import {DENIED, FAILED, findCondition, isUndecided} from '../../csr/conditions.ts'
import {TrustError, hasCode} from '../../errors.ts'

export const nameOf = ({metadata}: Pick<CertificateSigningRequest, 'metadata'>): string =>
  metadata.name ?? ''

const SAFE = /^[\w.@%+:/-]+$/

/** A word of a command line that can be copied into a shell. */
export const shellWord = (word: string): string =>
  SAFE.test(word) ? word : `'${printable(word).replaceAll("'", String.raw`'\''`)}'`

/** The command that lets a request through. */
export const approveCommand = (name: string): string =>
  `trustadm certificate approve ${shellWord(name)}`

/** Says more about failures that people meet when they work with requests. */
export function explain(error: unknown, name: string): unknown {
  if (isMissingObject(error)) {
    return new TrustError('NOT_FOUND', `there is no certificate request "${printable(name)}"`, {
      cause: error,
      facts: {name},
      hints: ['"trustadm certificate list" shows those that there are'],
    })
  }
  if (!hasCode(error, 'FORBIDDEN')) return error
  const [, signer] =
    /not permitted to approve requests with signerName "([^"]+)"/.exec(error.message) ?? []
  if (signer === undefined) return error
  return new TrustError('FORBIDDEN', error.message, {
    cause: error,
    facts: error.facts,
    hints: [approverHint(signer)],
  })
}

/** The bootstrap roles of Kubernetes, one a signer. */
function approverHint(signer: string): string {
  const [domain, path] = signer.split('/')
  return domain === 'kubernetes.io'
    ? `bind the ClusterRole system:certificates.k8s.io:${path ?? ''}-approver to this user`
    : `the user needs a role with the verb "approve" on "signers.certificates.k8s.io" named "${signer}" or "${domain ?? ''}/*"`
}

/** Who said what, for an error's sentence. */
function because(csr: CertificateSigningRequest, type: string): string {
  const {reason = '', message = ''} = findCondition(csr, type) ?? {}
  const why = [reason, message].filter((text) => text !== '').join(': ')
  return why === '' ? '' : ` (${printable(why)})`
}

/** Why a request has no certificate (yet); for one that has none. */
export function withoutCertificate(csr: CertificateSigningRequest): TrustError {
  const name = printable(nameOf(csr))
  const facts = {name: nameOf(csr)}
  const look = `"trustadm certificate show ${shellWord(nameOf(csr))}" shows what was asked for`
  if (findCondition(csr, DENIED)) {
    return new TrustError(
      'CERTIFICATE_DENIED',
      `the certificate request "${name}" was denied${because(csr, DENIED)}`,
      {facts, hints: [look, 'a denied request stays denied: ask again under another name']},
    )
  }
  if (findCondition(csr, FAILED)) {
    return new TrustError(
      'CERTIFICATE_FAILED',
      `the signer refused the certificate request "${name}"${because(csr, FAILED)}`,
      {facts, hints: [look, 'ask again for something that the signer permits, under another name']},
    )
  }
  if (isUndecided(csr)) {
    return new TrustError(
      'CERTIFICATE_PENDING',
      `nobody has approved the certificate request "${name}" yet`,
      {
        facts,
        hints: [`approve it with "${approveCommand(nameOf(csr))}"`],
      },
    )
  }
  return new TrustError(
    'CERTIFICATE_PENDING',
    `the certificate request "${name}" is approved, but its signer has not signed it yet`,
    {
      facts,
      hints: [`check that somebody signs for ${printable(csr.spec.signerName)} in this cluster`],
    },
  )
}
