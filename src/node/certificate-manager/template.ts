import type {WantedCertificate} from '../../enrollment/request.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {missingNames} from '../../pki/subject-names.ts'

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
