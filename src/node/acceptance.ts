import type {ApiClient} from '../client/api-client.ts'
import type {Patience} from '../client/patience.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {refused, type IssuedChain} from '../enrollment/check.ts'
import {credentialOf} from '../csr/user-extra.ts'
import {hasCode} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {verifyChain} from '../pki/verify.ts'
import {withCertificate, type Identity} from './cluster-access.ts'

/**
 * Refuses a certificate that the cluster does not accept. Some clusters sign clients with another CA than the one in cluster-info:
 * then the server must confirm that it knows this client.
 */
export async function requireAccepted(
  info: TrustedClusterInfo,
  chain: IssuedChain,
  identity: Identity,
  now: Date,
  patience?: Patience,
): Promise<void> {
  if (isSignedByCluster(info, chain, now)) return
  const user = await withCertificate(
    info,
    identity,
    (client, _server, signal) => whoAmI(client, signal),
    {patience},
  )
  if (user !== chain.certificate.subject.commonName) {
    throw refused('neither the CA of the cluster nor its server accepts it')
  }
}

/** Whether the cluster refuses a certificate that is still valid. What a server cannot tell is no refusal. */
export async function isRefused(
  info: TrustedClusterInfo,
  identity: Identity,
  now: Date,
  patience?: Patience,
): Promise<boolean> {
  const [certificate, ...intermediates] = parseBundle(identity.certificatePem)
  if (certificate && isSignedByCluster(info, {certificate, intermediates}, now)) return false
  const ask = (client: ApiClient, _server: string, signal?: AbortSignal) =>
    client.selfSubjectReviews.create({metadata: {}}, {signal})
  try {
    await withCertificate(info, identity, ask, {patience})
    return false
  } catch (error) {
    if (hasCode(error, 'UNAUTHORIZED')) return true
    if (hasCode(error, 'FORBIDDEN', 'NOT_FOUND')) return false
    throw error
  }
}

function isSignedByCluster(
  {ca}: TrustedClusterInfo,
  {certificate, intermediates}: IssuedChain,
  now: Date,
): boolean {
  if (ca === undefined) return false
  const options = {roots: parseBundle(ca), intermediates, usage: 'client auth', now} as const
  return verifyChain(certificate, options).ok
}

/** Whom the server sees in this client; undefined if nobody. Servers before v1.28 cannot tell. */
export async function readCaller(
  {selfSubjectReviews}: Pick<ApiClient, 'selfSubjectReviews'>,
  signal?: AbortSignal,
): Promise<{username: string; credential: string | undefined} | undefined> {
  try {
    const {status} = await selfSubjectReviews.create({metadata: {}}, {signal})
    const user = status?.userInfo ?? {}
    const {username} = user
    return username === undefined ? undefined : {username, credential: credentialOf(user)}
  } catch (error) {
    if (hasCode(error, 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')) return undefined
    throw error
  }
}

/** The user that the server sees for this client; undefined if none. */
export const whoAmI = async (
  client: Pick<ApiClient, 'selfSubjectReviews'>,
  signal?: AbortSignal,
): Promise<string | undefined> => (await readCaller(client, signal))?.username
