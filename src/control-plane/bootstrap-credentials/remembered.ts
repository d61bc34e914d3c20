import type {ApiClient} from '../../client/api-client.ts'
import {isOwnServer} from '../../client/api-client.ts'
import {
  certificateId,
  credentialAuthorities,
  idOfCredential,
  type CredentialAuthority,
} from '../../controllers/approval/bootstrap-credentials.ts'
import {bootstrapperNamespaceOf, bootstrapperUser, bundlePlace} from '../../csr/bootstrapper.ts'
import {tokenOfCredential} from '../../csr/user-extra.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {certificatePem, parseCertificate} from '../../pki/certificate.ts'
import {pinOf} from '../../pki/pins.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {
  authorityRevocation,
  isOfCredential,
  type Revocation,
  tokenRevocation,
} from '../../trust/revocations.ts'
import {addToList, readList, removeFromList} from '../revocation/list-store.ts'
import {callerOf} from '../revocation/revoke.ts'
import {changeBundle} from './bundle-map.ts'
import type {CredentialReport} from './list.ts'

type Client = Pick<ApiClient, 'configMaps' | 'selfSubjectReviews' | 'version'>

/** A bootstrap credential that the list of revocations names. */
export interface RememberedCredential extends Pick<
  CredentialReport,
  'id' | 'kind' | 'namespace' | 'credential' | 'expires'
> {
  entry: Revocation
}

/** Undefined for an entry whose details somebody has changed: it is in force, but nobody can tell which credential it is about. */
function remembered(entry: Revocation): RememberedCredential | undefined {
  const {id, user, credential, authority, expires = null} = entry
  const namespace = bootstrapperNamespaceOf(user)
  if (namespace === undefined || !isOfCredential(id)) return undefined
  const shortId = credential === undefined ? authorityIdOf(authority) : idOfCredential(credential)
  if (shortId === undefined) return undefined
  const kind = id.startsWith('token.') ? 'token' : 'certificate'
  return {id: shortId, kind, namespace, credential: credential ?? null, expires, entry}
}

function authorityIdOf(pem: string | undefined): string | undefined {
  try {
    return pem === undefined ? undefined : certificateId({authority: parseCertificate(pem)})
  } catch {
    return undefined
  }
}

/** The bootstrap credentials on the list of revocations; none for a caller who may not read the list. */
export async function rememberedCredentials(
  client: Pick<ApiClient, 'configMaps'>,
): Promise<RememberedCredential[]> {
  try {
    const parts = await readList(client)
    return parts.flatMap(({revocations}) => revocations.flatMap((one) => remembered(one) ?? []))
  } catch (error) {
    if (!hasCode(error, 'FORBIDDEN')) throw error
    return []
  }
}

async function authorityOf(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  {id, namespace}: CredentialReport,
): Promise<CredentialAuthority | undefined> {
  const map = await configMaps.find(bundlePlace(namespace))
  return map && credentialAuthorities(map).find((one) => certificateId(one) === id)
}

/** What the list says about a credential; undefined for a token whose id nobody knows, which is bound to its Secret. */
async function entryFor(
  client: Client,
  report: CredentialReport,
  clock: Clock,
): Promise<Revocation | undefined> {
  const {by} = await callerOf(client)
  const {namespace, credential} = report
  const details = {
    user: bootstrapperUser(namespace),
    revoked: formatTimestamp(clock.now()),
    ...(by !== undefined && {by}),
    ...(credential !== null && {credential}),
  }
  const token = tokenOfCredential(credential ?? '')
  if (token !== undefined) return {id: tokenRevocation(token), ...details}
  const found = await authorityOf(client, report)
  if (found === undefined) return undefined
  const {authority, leaf} = found
  return {
    id: authorityRevocation(pinOf(authority)),
    ...details,
    expires: formatTimestamp(authority.notAfter),
    authority: certificatePem(authority),
    ...(leaf && {certificate: certificatePem(leaf), fingerprint: leaf.fingerprint}),
  }
}

/** Puts a credential on the list, which only trustadm's server follows: from then on no copy of its ConfigMap or Secret makes it live. */
export async function remember(
  client: Client,
  report: CredentialReport,
  clock: Clock,
): Promise<void> {
  if (!(await isOwnServer(client))) return
  const entry = await entryFor(client, report, clock)
  if (entry !== undefined) await addToList(client, [entry])
}

export interface UnrevokedCredential extends Pick<
  CredentialReport,
  'id' | 'kind' | 'namespace' | 'credential'
> {
  /** False for a token: it went with its Secret, which no copy brings back. */
  accepted: boolean
}

/** Takes a credential off the list, and puts its CA back into the ConfigMap. */
export async function unrevokeCredential(
  client: Pick<ApiClient, 'configMaps'>,
  {id, kind, namespace, credential, state}: CredentialReport,
  {dryRun}: {dryRun: boolean},
): Promise<UnrevokedCredential> {
  const entry = (await rememberedCredentials(client)).find((one) => one.id === id)?.entry
  if (entry === undefined) throw notOnList(id, state)
  const unrevoked = {id, kind, namespace, credential, accepted: kind === 'certificate'}
  if (dryRun) return unrevoked
  const {authority, certificate} = entry
  if (authority !== undefined) {
    const added: CredentialAuthority = {
      authority: parseCertificate(authority),
      ...(certificate !== undefined && {leaf: parseCertificate(certificate)}),
    }
    await changeBundle(client, namespace, (found) => [
      ...found.filter((one) => certificateId(one) !== certificateId(added)),
      added,
    ])
  }
  await removeFromList(client, new Set([entry.id]))
  return unrevoked
}

const notOnList = (id: string, state: CredentialReport['state']): TrustError =>
  state === 'revoked'
    ? new TrustError(
        'NOT_FOUND',
        `the bootstrap credential "${id}" was not revoked by "bootstrap-credential revoke": nothing remembers what it was`,
        {hints: ['create another one with "trustadm bootstrap-credential create"']},
      )
    : new TrustError('CONFLICT', `the bootstrap credential "${id}" is not revoked`, {
        hints: ['list them with "trustadm bootstrap-credential list"'],
      })
