import type {ApiClient} from '../../client/api-client.ts'
import {issuedPem, withoutCertificate} from '../../enrollment/outcome.ts'
import {describeIssued, readIssued, type IssuedCertificate} from './issued.ts'
import {getRequest} from './list.ts'
import {ASK_UNDER_OTHER_NAME} from './wanted.ts'

export interface DownloadedCertificate {
  name: string
  /** The chain as the signer answered it. */
  pem: string
  /** Null where it is not one that we can read. */
  certificate: IssuedCertificate | null
}

/** The certificate of a request; an error that says how it stands where there is none. */
export async function downloadCertificate(
  client: Pick<ApiClient, 'csrs'>,
  name: string,
): Promise<DownloadedCertificate> {
  const csr = await getRequest(client, name)
  const pem = issuedPem(csr)
  if (pem === undefined) throw withoutCertificate(csr, ASK_UNDER_OTHER_NAME)
  const issued = readIssued(pem)
  return {
    name,
    pem,
    certificate: 'certificate' in issued ? describeIssued(issued.certificate, issued.chain) : null,
  }
}
