import type {UserInfo} from '../../api/meta.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {verifyClientCertificate} from '../../pki/client-identity.ts'
import type {ClientVerdict} from '../../pki/client-identity.ts'
import type {PeerCertificates} from '../api-request.ts'
import type {CertificateAuthenticator} from './authenticator.ts'
import {BoundedCache} from './bounded-cache.ts'
import {CREDENTIAL_ID} from './users.ts'

/** The CAs that client certificates are checked against, as of now. */
export interface ClientTrust {
  roots: readonly Certificate[]
  /** Another number whenever the bundle has changed: what was found with an older bundle does not count any more. */
  generation: number
}

type Trusted = Extract<ClientVerdict, {ok: true}>

const MAX_CACHED = 4096

/**
 * Kubernetes' x509 authenticator. The chain is checked on every request, so that trust withdrawn bites on open
 * connections too; the signatures are checked once for a certificate and a bundle.
 */
export function createCertificateAuthenticator(trust: () => ClientTrust): CertificateAuthenticator {
  const trusted = new BoundedCache<Trusted>(MAX_CACHED)

  return (peer, now) => {
    const {roots, generation} = trust()
    const key = `${generation}:${peer.fingerprint}`
    const known = trusted.get(key)
    if (known !== undefined && known.notBefore <= now && now <= known.notAfter) {
      return userOf(known)
    }
    const verdict = verify(peer, roots, now)
    trusted.set(key, verdict)
    return userOf(verdict)
  }
}

function verify({chain}: PeerCertificates, roots: readonly Certificate[], now: Date): Trusted {
  const [leaf, ...intermediates] = chain
  if (leaf === undefined) throw new Error('there is no certificate')
  const verdict = verifyClientCertificate(leaf, intermediates, roots, now)
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict
}

function userOf({identity, credentialId}: Trusted): UserInfo | undefined {
  if (identity === undefined) return undefined
  const {name, groups, uid} = identity
  return {
    username: name,
    ...(uid === undefined ? {} : {uid}),
    groups,
    extra: {[CREDENTIAL_ID]: [credentialId]},
  }
}
