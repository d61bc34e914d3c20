import type {Secret} from '../api/core.ts'
import {BOOTSTRAPPER} from './bootstrapper.ts'
import {tokenCredential} from './credential.ts'

/** A Secret with a token of a ServiceAccount. Whoever creates it leaves it empty; a controller fills it. */
export const ACCOUNT_TOKEN_TYPE = 'kubernetes.io/service-account-token'
/** The annotations of such a Secret: the account that it is for. */
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
export const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

/** The Secret of the node bootstrapper. */
export const BOOTSTRAPPER_SECRET = `${BOOTSTRAPPER}-token`
/** On the bootstrapper's ServiceAccount: its Secret is created again if somebody deletes it. `bootstrap-credential revoke` removes this. */
export const KEEPS_SECRET = 'trustadm.io/bootstrap-token-secret'

/** An empty Secret for a token of the node bootstrapper. */
export const bootstrapperSecret = (namespace: string): Secret => ({
  metadata: {name: BOOTSTRAPPER_SECRET, namespace, annotations: {[ACCOUNT_NAME]: BOOTSTRAPPER}},
  type: ACCOUNT_TOKEN_TYPE,
})

/** The text under a key of a Secret; empty if it is missing. */
export const secretText = ({data = {}}: Pick<Secret, 'data'>, key: string): string =>
  Buffer.from(data[key] ?? '', 'base64').toString()

const LONGEST_TOKEN = 16 * 1024

/** The credential-id of the token in a Secret; undefined if there is none, or one without an id, as Kubernetes' own controller makes. */
export function secretCredential(secret: Pick<Secret, 'data'>): string | undefined {
  const token = secretText(secret, 'token')
  if (token.length > LONGEST_TOKEN) return undefined
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const {jti} = claims as {jti?: unknown}
    return typeof jti === 'string' ? tokenCredential(jti) : undefined
  } catch {
    return undefined
  }
}
