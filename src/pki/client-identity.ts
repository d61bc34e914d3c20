import {messageOf} from '../errors.ts'
import {parseCertificateDer, type Certificate} from './certificate.ts'
import {OID} from './oids.ts'
import {readPresented, verifyChain} from './verify.ts'

/** Who a client certificate stands for. */
export interface ClientIdentity {
  /** The common name. */
  name: string
  /** The organizations, in order, repetitions kept. */
  groups: string[]
  uid?: string
}

export type ClientVerdict =
  | {
      ok: true
      /** Absent for a certificate without a common name: it holds, and says nothing about who the caller is. */
      identity?: ClientIdentity
      /** The value of the extra `authentication.kubernetes.io/credential-id`. */
      credentialId: string
      fingerprint: string
      /** The verdict holds within this time for the same bundle, and may be kept for as long. */
      notBefore: Date
      notAfter: Date
    }
  | {ok: false; reason: string}

function uidOf({subject}: Certificate): {uid?: string; problem?: string} {
  const [uid, ...more] = subject.attributes.filter(({oid}) => oid === OID.kubernetesUid)
  if (uid === undefined) return {}
  if (more.length > 0) return {problem: 'it has more than one UID'}
  return uid.value === '' ? {problem: 'its UID is empty'} : {uid: uid.value}
}

/**
 * Whether the certificate is a client's of this cluster, and whose: the x509 authenticator of the API server. Pure and
 * synchronous; keep the verdict by fingerprint and bundle.
 */
export function verifyClientCertificate(
  leafDer: Uint8Array,
  intermediates: readonly Uint8Array[],
  bundle: readonly Certificate[],
  now: Date,
): ClientVerdict {
  let leaf: Certificate
  try {
    leaf = parseCertificateDer(leafDer)
  } catch (error) {
    return {ok: false, reason: messageOf(error)}
  }
  const verdict = verifyChain(leaf, {
    intermediates: readPresented(intermediates),
    roots: bundle,
    usage: 'client auth',
    now,
  })
  if (!verdict.ok) return verdict
  const {uid, problem} = uidOf(leaf)
  if (problem !== undefined) return {ok: false, reason: problem}

  const {commonName, organizations} = leaf.subject
  return {
    ok: true,
    ...(commonName !== '' && {
      identity: {name: commonName, groups: organizations, ...(uid !== undefined && {uid})},
    }),
    credentialId: `X509SHA256=${leaf.fingerprint}`,
    fingerprint: leaf.fingerprint,
    notBefore: verdict.notBefore,
    notAfter: verdict.notAfter,
  }
}
