import {type ApiClient, isOwnServer} from '../../client/api-client.ts'
import {parseBundle} from '../../pki/bundle.ts'

/** The CAs that the API server knows its clients by. */
export interface ClientAuthorities {
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
}

/** What a certificate says about its CA. */
interface Issuer {
  issuerKeyId?: string | undefined
  issuerFingerprint?: string | undefined
}

/**
 * The CAs of clients, as extension servers read them. Undefined if they are not known, or if certificates may be signed below them: only
 * trustadm's own server trusts exactly what signs.
 */
export async function readClientAuthorities(
  client: Pick<ApiClient, 'configMaps' | 'version'>,
): Promise<ClientAuthorities | undefined> {
  if (!(await isOwnServer(client))) return undefined
  const key = {namespace: 'kube-system', name: 'extension-apiserver-authentication'}
  const pem = (await client.configMaps.find(key))?.data?.['client-ca-file'] ?? ''
  try {
    const found = parseBundle(pem)
    const keyIds = found.flatMap(({subjectKeyId}) => subjectKeyId ?? [])
    if (keyIds.length < found.length) return undefined
    return {
      keyIds: new Set(keyIds),
      fingerprints: new Set(found.map(({fingerprint}) => fingerprint)),
    }
  } catch {
    return undefined
  }
}

/**
 * Whether a CA is among those; undefined if that is not known. A CA that was issued again with the same key has another fingerprint, and
 * what it has signed before is still accepted.
 */
export function isAccepted(
  {keyIds, fingerprints}: ClientAuthorities,
  {issuerKeyId, issuerFingerprint}: Issuer,
): boolean | undefined {
  if (issuerKeyId !== undefined) return keyIds.has(issuerKeyId)
  return issuerFingerprint !== undefined && fingerprints.has(issuerFingerprint) ? true : undefined
}
