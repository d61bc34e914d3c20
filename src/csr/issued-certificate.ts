import {TrustError} from '../errors.ts'
import {parseCertificate, parseCertificateDer, type Certificate} from '../pki/certificate.ts'
import {pemBlocks} from '../pki/pem-blocks.ts'
import {recently} from './recent.ts'

const LABEL = 'CERTIFICATE'

/**
 * The certificate of `status.certificate`: base64 of PEM. Throws if it is not one certificate without headers and nothing else
 * that looks like PEM. Signer, server and approver read it within moments of each other.
 */
export const soleCertificateIn = recently(
  (encoded: string): Certificate => {
    const [block, ...others] = pemBlocks(Buffer.from(encoded, 'base64').toString('latin1'))
    if (block?.type !== LABEL || block.hasHeaders || others.length > 0) {
      throw new TrustError('CERTIFICATE_INVALID', 'there is not just one certificate')
    }
    return parseCertificateDer(block.bytes)
  },
  {most: 256, longest: 16 * 1024},
)

/** The first certificate of `status.certificate`, which may be followed by those of CAs. */
export function leafCertificateIn(encoded: string): Certificate {
  try {
    return soleCertificateIn(encoded)
  } catch {
    return parseCertificate(Buffer.from(encoded, 'base64').toString('latin1'))
  }
}
