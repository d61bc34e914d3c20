import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {isToken, parseToken} from '../../bootstrap/token.ts'
import {authenticatesAs, expirationOf} from '../../bootstrap/use-token.ts'
import type {Clock} from '../../runtime.ts'
import type {ObjectReader} from '../kernel/resource.ts'
import type {BearerAuthenticator} from './bearer.ts'

export interface BootstrapTokenOptions {
  objects: Pick<ObjectReader, 'get'>
  clock: Clock
}

/**
 * Kubernetes' bootstrap token authenticator. Nothing is remembered between two requests, so a token that is deleted, changed
 * or over is refused by the next one.
 */
export function bootstrapTokenAuthenticator({
  objects,
  clock,
}: BootstrapTokenOptions): BearerAuthenticator {
  return {
    name: 'bootstrap-token',
    authenticate(text) {
      if (!isToken(text)) return undefined
      const token = parseToken(text)
      const secret = objects.get('secrets', '', TOKEN_SECRET_NAMESPACE, tokenSecretName(token.id))
      const user = secret && authenticatesAs(secret, token, clock.now())
      if (secret === undefined || user === undefined)
        throw new Error('the bootstrap token is not valid')
      const expires = expirationOf(secret, clock.now())
      return {user, ...(expires === undefined ? {} : {expires})}
    },
  }
}
