import type {UserInfo} from '../../api/meta.ts'
import type {ServerServices, TokenVerdict} from '../kernel/services.ts'
import {withAuthenticatedGroup} from '../kernel/users.ts'

export interface BearerIdentity {
  user: UserInfo
  /** From when on the token is refused; absent if only a change can end it. */
  expires?: Date
  /** Which of the audiences asked for the token is meant for; absent if such tokens have none. */
  audiences?: string[]
}

/** Who showed a token; absent if another server asks about one that was shown to it. */
export interface BearerCall {
  userAgent: string
  remoteAddress: string
}

/** One kind of bearer token. */
export interface BearerAuthenticator {
  name: string
  /** Undefined: not a token of this kind. Throws: of this kind, but not valid. */
  authenticate(
    token: string,
    audiences: readonly string[],
    call?: BearerCall,
  ): BearerIdentity | Promise<BearerIdentity | undefined> | undefined
}

const MAX_TOKEN = 16_384

/** As Kubernetes reads the header: the scheme in any case, one blank, up to the next blank. An empty token is none. */
export function parseBearer(authorization: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** The first that accepts the token decides. Throws if none does: why is for the audit log, not for the bearer. */
export async function authenticateBearer(
  bearers: readonly BearerAuthenticator[],
  token: string,
  audiences: readonly string[],
  call?: BearerCall,
): Promise<BearerIdentity> {
  if (token.length > MAX_TOKEN) throw new Error('the token is too long')
  let refusal: Error | undefined
  for (const bearer of bearers) {
    try {
      const found = await bearer.authenticate(token, audiences, call)
      if (found !== undefined) return found
    } catch (error) {
      // Another kind may still accept it.
      refusal = error as Error
    }
  }
  throw refusal ?? new Error('the token is of an unknown kind')
}

/** The result of a TokenReview; without audiences the token must be for the server itself. */
export function createTokenReview(
  bearers: readonly BearerAuthenticator[],
  serverAudiences: readonly string[],
): ServerServices['reviewToken'] {
  return async (token, requested): Promise<TokenVerdict> => {
    const audiences = requested.length === 0 ? serverAudiences : requested
    const found = await authenticateBearer(bearers, token, audiences).catch(() => undefined)
    const meantFor =
      found?.audiences ?? serverAudiences.filter((audience) => audiences.includes(audience))
    if (found === undefined || meantFor.length === 0) {
      return {authenticated: false, error: 'invalid bearer token'}
    }
    return {authenticated: true, user: withAuthenticatedGroup(found.user), audiences: meantFor}
  }
}
