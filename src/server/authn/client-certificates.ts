import type {UserInfo} from '../../api/meta.ts'
import {bootstrapperGroups, bootstrapperUser} from '../../csr/bootstrapper.ts'
import {certificateCredential, CREDENTIAL_ID} from '../../csr/user-extra.ts'
import {parseCertificateDer, type Certificate} from '../../pki/certificate.ts'
import {
  type ClientIdentity,
  type ClientVerdict,
  verifyClientCertificate,
} from '../../pki/client-identity.ts'
import type {Live} from '../../trust/live.ts'
import {
  issueTime,
  type RevocationId,
  type RevocationList,
  revocationsOf,
} from '../../trust/revocations.ts'
import type {Bundle} from '../../trust/trust.ts'
import type {PeerCertificates} from '../kernel/api-request.ts'
import {tooManyRequests} from '../kernel/status.ts'
import {addressKey, TokenBuckets} from '../limits/token-buckets.ts'
import type {CertificateAuthenticator, CertificateCall} from './authenticator.ts'
import {BoundedCache} from '../limits/bounded-cache.ts'
import type {SeenClients} from './seen-clients.ts'

/** CAs that are trusted for one user only: the node bootstrapper of a namespace. */
export interface BootstrapAuthorities {
  bootstrapper: string
  certificates: readonly Certificate[]
}

/** The CAs that clients are checked against. */
interface ClientAuthorities {
  /** Those of the cluster, which are trusted for every user. */
  cluster: readonly Certificate[]
  bootstrap: readonly BootstrapAuthorities[]
}

function isBootstrapper(identity: ClientIdentity | undefined, namespace: string): boolean {
  if (identity === undefined || identity.uid !== undefined) return false
  const allowed = bootstrapperGroups(namespace)
  const isAllowed = identity.groups.every((group) => allowed.includes(group))
  return identity.name === bootstrapperUser(namespace) && isAllowed
}

/**
 * Checks a client certificate. The CAs of bootstrap credentials come from ConfigMaps, so they are trusted for the bootstrapper only: otherwise
 * whoever may write such a ConfigMap could become any user. They are tried last, so that no such CA can stand in for one of the cluster.
 */
export async function verifyCaller(
  [leaf = new Uint8Array(), ...others]: readonly Uint8Array[],
  {cluster, bootstrap}: ClientAuthorities,
  now: Date,
): Promise<ClientVerdict> {
  const verdict = await verifyClientCertificate(leaf, others, cluster, now)
  if (verdict.ok) return verdict
  for (const {bootstrapper, certificates} of bootstrap) {
    if (certificates.length === 0) continue
    const found = await verifyClientCertificate(leaf, others, certificates, now)
    if (!found.ok) continue
    return isBootstrapper(found.identity, bootstrapper)
      ? found
      : {ok: false, reason: `its CA is trusted for ${bootstrapperUser(bootstrapper)} only`}
  }
  return verdict
}

/**
 * Whether one certificate comes alone and names a CA that is trusted: then its check costs a signature with the key of that CA, on the thread pool,
 * which is less than its handshake. So nobody waits who is new behind an address that others have used up.
 */
function isPlausible({chain}: PeerCertificates, {cluster, bootstrap}: ClientAuthorities): boolean {
  const [leaf, ...others] = chain
  if (leaf === undefined || others.length > 0) return false
  try {
    const {issuer} = parseCertificateDer(leaf)
    const trusted = [...cluster, ...bootstrap.flatMap(({certificates}) => certificates)]
    return trusted.some(({subject}) => subject.der.equals(issuer.der))
  } catch {
    return false
  }
}

/** The CAs that client certificates are checked against. */
export interface ClientTrust {
  /** What was found with an older one does not count any more. */
  generation: number
  bundles: {client: Pick<Bundle, 'certificates'>}
  bootstrap: readonly BootstrapAuthorities[]
}

interface Trusted extends Extract<ClientVerdict, {ok: true}> {
  /** The entries of the revocation list that would revoke it. */
  revocations: readonly RevocationId[]
}

const MAX_CACHED = 4096
/** Of unknown callers. A separate cache, so that they cannot push out known ones. */
const MAX_REFUSED = 1024
/** A refusal is looked at again after this: the certificate may have become valid. */
const REFUSED_MILLISECONDS = 10_000
/** Certificates of one address that have not been seen before, at first. Those that are trusted do not count. */
const CHECKS = {perSecond: 200, burst: 1000, keys: 10_000}

interface Refusal {
  reason: string
  until: number
}

/**
 * Kubernetes' x509 authenticator. The chain is checked on every request, so that trust withdrawn bites on open
 * connections too; the signatures are checked once for a certificate and a bundle. In addition to Kubernetes, certificates can
 * be revoked, and those in use are remembered.
 */
export function createCertificateAuthenticator(
  trust: Pick<Live<ClientTrust>, 'current'>,
  revoked: Pick<RevocationList, 'find' | 'findUser'>,
  seen: Pick<SeenClients, 'note'>,
): CertificateAuthenticator {
  const trusted = new BoundedCache<Trusted>(MAX_CACHED)
  const refused = new BoundedCache<Refusal>(MAX_REFUSED)
  const checks = new TokenBuckets(CHECKS)
  /** Under way, so that many requests on a new connection wait for one check. */
  const pending = new Map<string, Promise<Trusted>>()

  /** What it costs is charged before it is spent. */
  async function check(key: string, peer: PeerCertificates, call: CertificateCall) {
    const address = addressKey(call.remoteAddress)
    const {bundles, bootstrap} = trust.current
    const authorities = {cluster: bundles.client.certificates, bootstrap}
    const seconds = checks.spend(address, call.now)
    if (seconds > 0 && !isPlausible(peer, authorities)) throw tooManyRequests(seconds)
    const verdict = await verifyCaller(peer.chain, authorities, call.now)
    if (!verdict.ok) {
      const until = call.now.getTime() + REFUSED_MILLISECONDS
      refused.set(key, {reason: verdict.reason, until})
      throw new Error(verdict.reason)
    }
    if (seconds === 0) checks.refund(address)
    const {pin, serial, issuerName: issuer} = verdict
    const found = {...verdict, revocations: revocationsOf({pin, serial, issuer})}
    trusted.set(key, found)
    return found
  }

  async function verified(peer: PeerCertificates, call: CertificateCall): Promise<Trusted> {
    const key = `${trust.current.generation}:${peer.fingerprint}`
    const time = call.now.getTime()
    const known = trusted.get(key)
    if (known && known.notBefore.getTime() <= time && time <= known.notAfter.getTime()) {
      return known
    }
    const refusal = refused.get(key)
    if (refusal && time < refusal.until && refusal.until - time <= REFUSED_MILLISECONDS) {
      throw new Error(refusal.reason)
    }
    let checking = pending.get(key)
    if (checking === undefined) {
      checking = check(key, peer, call).finally(() => pending.delete(key))
      pending.set(key, checking)
    }
    return await checking
  }

  return async (peer, call) => {
    const found = await verified(peer, call)
    const {identity, fingerprint, issuer, pin: key, begins, notAfter} = found
    if (revoked.find(found.revocations)) throw new Error('it was revoked')
    if (identity && revoked.findUser(identity.name, issueTime(begins), key))
      throw new Error('it was revoked, as everything of its user was')
    if (identity === undefined) return undefined
    seen.note(identity, found, call)
    return {user: userOf(identity, fingerprint), issuer, key, expires: notAfter}
  }
}

function userOf({name, groups, uid}: ClientIdentity, fingerprint: string): UserInfo {
  return {
    username: name,
    ...(uid === undefined ? {} : {uid}),
    groups,
    extra: {[CREDENTIAL_ID]: [certificateCredential(fingerprint)]},
  }
}
