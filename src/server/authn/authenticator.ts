import type {UserInfo} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import type {ApiRequest, PeerCertificates} from '../api-request.ts'
import {StatusError, unauthorized} from '../status.ts'
import {authenticateBearer, parseBearer} from './bearer.ts'
import type {BearerAuthenticator} from './bearer.ts'
import {anonymous, withAuthenticatedGroup} from './users.ts'

export interface CertificateCall {
  now: Date
  remoteAddress: string
}

/**
 * Who a certificate is for; undefined where it names nobody. Throws where it is not to be trusted, and TooManyRequests
 * where its address has shown too many that nobody knows.
 */
export type CertificateAuthenticator = (
  peer: PeerCertificates,
  call: CertificateCall,
) => Promise<UserInfo | undefined>

export interface AuthenticatorOptions {
  certificates: CertificateAuthenticator
  /** Asked in this order. */
  bearers: readonly BearerAuthenticator[]
  /** What a token must be meant for. */
  audiences: readonly string[]
  clock: Clock
  /** Off: a request without credentials is refused too. */
  allowAnonymous?: boolean
}

export type Authenticate = (request: ApiRequest) => Promise<UserInfo>

/**
 * Client certificate, then bearer token, then anonymous. A credential that is wrong does not stop the next one from being
 * right, but it keeps its bearer from becoming anonymous: that is a 401. Headers of a front proxy are never looked at.
 */
export function createAuthenticator({
  certificates,
  bearers,
  audiences,
  clock,
  allowAnonymous = true,
}: AuthenticatorOptions): Authenticate {
  return async ({caller, peer, headers, remoteAddress}) => {
    if (caller !== undefined) return withAuthenticatedGroup(caller)

    let refused = false
    if (peer !== undefined) {
      try {
        const user = await certificates(peer, {now: clock.now(), remoteAddress})
        if (user !== undefined) return withAuthenticatedGroup(user)
      } catch (error) {
        if (error instanceof StatusError) throw error
        refused = true
      }
    }

    const token = parseBearer(headers.authorization)
    if (token !== undefined) {
      const found = await authenticateBearer(bearers, token, audiences)
      if (found !== undefined) return withAuthenticatedGroup(found.user)
      refused = true
    }

    if (refused || !allowAnonymous) throw unauthorized()
    return anonymous()
  }
}
