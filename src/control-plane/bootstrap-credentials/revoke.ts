import type {ApiClient} from '../../client/api-client.ts'
import {certificateId} from '../../controllers/approval/bootstrap-credentials.ts'
import {TrustError} from '../../errors.ts'
import {changeBundle} from './bundle-map.ts'
import type {CredentialReport} from './list.ts'
import {deleteToken} from './account.ts'

export interface RevokedCredential {
  id: string
  kind: CredentialReport['kind']
  namespace: string
  credential: string | null
  /** Requests that were made with it and are not approved any more. */
  pending: string[]
}

/** A credential that can still be revoked. */
export function requireLive({id, state}: CredentialReport): void {
  if (state !== 'revoked') return
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

/** Ends a credential: the server refuses it from now on, on open connections too. Nothing brings it back. */
export async function revokeCredential(
  client: Pick<ApiClient, 'configMaps' | 'secrets' | 'serviceAccounts'>,
  {id, kind, namespace, credential, pending}: CredentialReport,
): Promise<RevokedCredential> {
  if (kind === 'token') await deleteToken(client, namespace)
  else {
    await changeBundle(client, namespace, (found) =>
      found.filter((one) => certificateId(one) !== id),
    )
  }
  return {id, kind, namespace, credential, pending}
}
