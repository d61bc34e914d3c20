import {TrustError} from '../errors.ts'
import {certificatePem, parseCertificateDer, type Certificate} from './certificate.ts'
import {parsePem} from './pem.ts'

/** Each certificate once, in order. */
export function uniqueCertificates(certificates: readonly Certificate[]): Certificate[] {
  return [...new Map(certificates.map((one) => [one.fingerprint, one])).values()]
}

/** All certificates of the text, in order and without duplicates. Other blocks are skipped; a text without certificates is refused. */
export function parseBundle(text: string): Certificate[] {
  const blocks = parsePem(text).filter(({label}) => label === 'CERTIFICATE')
  if (blocks.length === 0) {
    throw new TrustError('CERTIFICATE_INVALID', 'there is no PEM certificate')
  }
  return uniqueCertificates(blocks.map(({bytes}) => parseCertificateDer(bytes)))
}

export const encodeBundle = (certificates: readonly Certificate[]): string =>
  uniqueCertificates(certificates).map(certificatePem).join('')

/** Whether two bundles contain the same certificates, in any order and with any text around them. */
export function isSameBundle(left: string, right: string): boolean {
  const fingerprints = (text: string) =>
    parseBundle(text)
      .map(({fingerprint}) => fingerprint)
      .sort()
  return fingerprints(left).join() === fingerprints(right).join()
}
