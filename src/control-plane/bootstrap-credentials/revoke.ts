import type {ApiClient} from '../../client/api-client.ts'
import {certificateId} from '../../controllers/approval/bootstrap-credentials.ts'
import {TrustError} from '../../errors.ts'
import {changeBundle} from './bundle-map.ts'
import type {Clock} from '../../runtime.ts'
import type {CredentialReport} from './list.ts'
import {remember} from './remembered.ts'
import {deleteToken} from './account.ts'

export interface RevokedCredential {
  id: string
  kind: CredentialReport['kind']
  namespace: string
  credential: string | null
  /** Requests that were made with it and are not approved any more. */
  pending: string[]
}

/** A credential that can still be revoked: a revoked one may be in its ConfigMap again. */
export function requireLive({id, state, object}: CredentialReport): void {
  if (state !== 'revoked' || object !== null) return
  throw new TrustError('CONFLICT', `the bootstrap credential "${id}" is already revoked`, {
    hints: [`see which machines joined with it: "trustadm bootstrap-credential show ${id}"`],
  })
}

/** The credential-id, without which nobody can tell which machines joined with it. */
export function requireKnown({id, credential}: CredentialReport): string {
  if (credential !== null) return credential
  throw new TrustError(
    'NOT_FOUND',
    `nothing tells which machines joined with the bootstrap credential "${id}": another program made it`,
    {hints: ['revoke it without --with-machines']},
  )
}

/**
 * Ends a credential: the server refuses it from now on, on open connections too. Only `bootstrap-credential unrevoke` brings it back. The list first: it is
 * what counts for our server, and what a run that was interrupted leaves behind.
 */
export async function revokeCredential(
  client: Pick<
    ApiClient,
    'configMaps' | 'secrets' | 'selfSubjectReviews' | 'serviceAccounts' | 'version'
  >,
  report: CredentialReport,
  clock: Clock,
): Promise<RevokedCredential> {
  const {id, kind, namespace, credential, pending} = report
  await remember(client, report, clock)
  if (kind === 'token') await deleteToken(client, namespace)
  else {
    await changeBundle(client, namespace, (found) =>
      found.filter((one) => certificateId(one) !== id),
    )
  }
  return {id, kind, namespace, credential, pending}
}
