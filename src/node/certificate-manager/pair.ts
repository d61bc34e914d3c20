import type {WantedCertificate} from '../../enrollment/request.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {missingNames} from '../../pki/subject-names.ts'

/** A certificate and its key. */
export interface Pair {
  certificatePem: string
  keyPem: string
  certificate: Certificate
}

type Dated = Pick<Certificate, 'notBefore' | 'notAfter'>

/**
 * Which of two pairs to use, the managed one or the one given in a kubeconfig: the one that has not expired. If that is true of
 * both or of none, the newer one, which is valid from a later time.
 */
export function chooseNewer<
  Managed extends {certificate: Dated},
  Given extends {certificate: Dated},
>(managed: Managed | undefined, given: Given | undefined, now: Date): Managed | Given | undefined {
  if (!managed || !given) return managed ?? given
  const [isManagedAlive, isGivenAlive] = [managed, given].map(
    ({certificate}) => certificate.notAfter > now,
  )
  if (isManagedAlive !== isGivenAlive) return isManagedAlive ? managed : given
  return managed.certificate.notBefore >= given.certificate.notBefore ? managed : given
}

/** Whether a certificate is for all that is wanted. It may be for more: a renewal would not take anything away. */
export function satisfies(
  {subject, names}: Pick<Certificate, 'subject' | 'names'>,
  wanted: Pick<WantedCertificate, 'subject' | 'names'>,
): boolean {
  return (
    subject.commonName === wanted.subject.commonName &&
    wanted.subject.organizations.every((one) => subject.organizations.includes(one)) &&
    missingNames(names, wanted.names).length === 0
  )
}
