import {messageOf} from '../errors.ts'
import {parseCertificateDer, type Certificate} from './certificate.ts'
import {formatName} from './distinguished-name.ts'
import {problemOfStrangersKey} from './key-info.ts'
import {OID} from './oids.ts'
import {pinOf, type Pin} from './pins.ts'
import {verifyChainOnPool} from './verify.ts'

/** The user of a client certificate. */
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
      /** Absent for a certificate without a common name: it is valid, but identifies no user. */
      identity?: ClientIdentity
      fingerprint: string
      /** The fingerprint of the trusted CA that it chains up to. */
      issuer: string
      /** The key of the trusted CA that it depends on: the nearest one in the chain, if a cross-signed certificate came along. */
      issuerPin: Pin
      /** The certificate itself, for a list of revoked ones. */
      pin: Pin
      serial: string
      /** The name of the CA that signed it, as text. */
      issuerName: string
      /** From when on the certificate itself is valid, whatever its chain. */
      begins: Date
      /** Within this time the verdict is valid for the same bundle, and may be cached. */
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

/** Of the first CA above the leaf whose key is trusted: a cross-signed certificate of a trusted CA is only a detour. */
function issuerPinOf(
  leaf: Certificate,
  chain: readonly Certificate[],
  bundle: readonly Certificate[],
): Pin {
  const isTrusted = ({publicKeyDer}: Certificate) =>
    bundle.some((trusted) => trusted.publicKeyDer.equals(publicKeyDer))
  return pinOf(chain.find((one) => one !== leaf && isTrusted(one)) ?? leaf)
}

/** More than any client needs; those of Kubernetes present one or two. */
export const MOST_PRESENTED = 8

/** Reads the certificates of a caller, or says why they are refused before any computation with their keys. As Go's TLS server. */
export function readCaller(ders: readonly Uint8Array[]): Certificate[] | string {
  if (ders.length > MOST_PRESENTED) return `it comes with more than ${MOST_PRESENTED} certificates`
  const presented: Certificate[] = []
  for (const der of ders) {
    try {
      presented.push(parseCertificateDer(der))
    } catch (error) {
      return messageOf(error)
    }
  }
  for (const {publicKeyDer} of presented) {
    const problem = problemOfStrangersKey(publicKeyDer)
    if (problem !== undefined) return `the public key is refused: ${problem}`
  }
  return presented
}

/**
 * Whether the certificate belongs to a client of this cluster, and to which user: the x509 authenticator of the API server.
 * Signatures are checked on the thread pool; cache the verdict by the presented certificates and the bundle.
 */
export async function verifyClientCertificate(
  leafDer: Uint8Array,
  others: readonly Uint8Array[],
  bundle: readonly Certificate[],
  now: Date,
): Promise<ClientVerdict> {
  const presented = readCaller([leafDer, ...others])
  if (typeof presented === 'string') return {ok: false, reason: presented}
  const [leaf, ...intermediates] = presented
  if (leaf === undefined) return {ok: false, reason: 'there is no certificate'}
  const options = {intermediates, roots: bundle, usage: 'client auth', now} as const
  const verdict = await verifyChainOnPool(leaf, options)
  if (!verdict.ok) return verdict
  const {uid, problem} = uidOf(leaf)
  if (problem !== undefined) return {ok: false, reason: problem}

  const {commonName, organizations} = leaf.subject
  return {
    ok: true,
    ...(commonName !== '' && {
      identity: {name: commonName, groups: organizations, ...(uid !== undefined && {uid})},
    }),
    fingerprint: leaf.fingerprint,
    issuer: verdict.chain.at(-1)?.fingerprint ?? '',
    issuerPin: issuerPinOf(leaf, verdict.chain, bundle),
    pin: pinOf(leaf),
    serial: leaf.serial,
    issuerName: formatName(leaf.issuer),
    begins: leaf.notBefore,
    notBefore: verdict.notBefore,
    notAfter: verdict.notAfter,
  }
}
