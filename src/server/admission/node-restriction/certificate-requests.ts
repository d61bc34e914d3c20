import type {CertificateSigningRequest} from '../../../api/certificates.ts'
import {nodeUser} from '../../../csr/node-names.ts'
import {requestOf} from '../../../csr/read-request.ts'
import {isKubeletSigner} from '../../../csr/signers.ts'
import {denied} from '../../kernel/admission.ts'
import {requireThat, type NodeWriteRule} from './node-write.ts'

/** A node asks for kubelet certificates in its own name only; other signers have rules of their own. */
export const certificateRequests: NodeWriteRule = (write) => {
  const {node, operation} = write
  if (operation.verb !== 'create' || operation.subresource !== '') return
  const csr = (operation.object ?? {}) as Partial<CertificateSigningRequest>
  if (!isKubeletSigner(csr.spec?.signerName)) return
  const verdict = requestOf(csr)
  if ('why' in verdict) throw denied(operation, `unable to parse csr: ${verdict.why}`)
  const wanted = nodeUser(node)
  requireThat(
    write,
    verdict.request.subject.commonName === wanted,
    `can only create a node CSR with CN=${wanted}`,
  )
}
