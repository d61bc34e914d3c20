import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {isSameSecret, isToken, parseToken} from '../../bootstrap/token.ts'
import {authenticatesAs, tokenExpirationOf} from '../../bootstrap/read-token-secret.ts'
import type {Clock} from '../../runtime.ts'
import type {SharedObjects} from '../kernel/resource.ts'
import type {BearerAuthenticator, BearerIdentity} from './bearer.ts'

export interface BootstrapTokenOptions {
  objects: SharedObjects
  clock: Clock
}

/** A token that was accepted. */
interface Accepted {
  text: string
  identity: BearerIdentity
}

/**
 * Kubernetes' bootstrap token authenticator. A token that was accepted is remembered for one state of its Secret only, so one
 * that is deleted, changed or over is refused by the next request.
 */
export function bootstrapTokenAuthenticator({
  objects,
  clock,
}: BootstrapTokenOptions): BearerAuthenticator {
  const accepted = new WeakMap<object, Accepted>()
  return {
    name: 'bootstrap-token',
    authenticate(text) {
      if (!isToken(text)) return undefined
      const token = parseToken(text)
      const name = tokenSecretName(token.id)
      const secret = objects.shared('secrets', '', TOKEN_SECRET_NAMESPACE, name)
      if (secret === undefined) throw new Error('the bootstrap token is not valid')
      const now = clock.now()
      const earlier = accepted.get(secret)
      if (earlier && isSameSecret(earlier.text, text) && !isOver(earlier.identity, now))
        return earlier.identity
      const user = authenticatesAs(secret, token, now)
      if (user === undefined) throw new Error('the bootstrap token is not valid')
      const expires = tokenExpirationOf(secret, now)
      const identity = {user, ...(expires === undefined ? {} : {expires})}
      accepted.set(secret, {text, identity})
      return identity
    },
  }
}

const isOver = ({expires}: BearerIdentity, now: Date): boolean =>
  expires !== undefined && expires <= now
