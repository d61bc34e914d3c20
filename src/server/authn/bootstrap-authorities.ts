import {bootstrapperGroups, bootstrapperUser} from '../../csr/bootstrapper.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {
  verifyClientCertificate,
  type ClientIdentity,
  type ClientVerdict,
} from '../../pki/client-identity.ts'

/** CAs that are trusted for one user only: the node bootstrapper of a namespace. */
export interface BootstrapAuthorities {
  bootstrapper: string
  certificates: readonly Certificate[]
}

/** The CAs that clients are checked against. */
export interface ClientAuthorities {
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
