import type {UserInfo} from '../../api/meta.ts'
import {messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {ApiRequest, PeerCertificates} from '../kernel/api-request.ts'
import {StatusError, unauthorized} from '../kernel/status.ts'
import {authenticateBearer, parseBearer} from './bearer.ts'
import type {BearerAuthenticator} from './bearer.ts'
import {anonymous, withAuthenticatedGroup} from '../kernel/users.ts'

/** The caller, by a credential that is valid now. */
export interface Authenticated {
  user: UserInfo
  /** The fingerprint of the CA that a client certificate depends on. */
  issuer?: string
  /** The pin of the key of a client certificate. */
  key?: string
  /** From when on the credential is refused; absent if only a change can end it. */
  expires?: Date
}

export interface CertificateCall {
  now: Date
  remoteAddress: string
  userAgent: string
}

/**
 * Who a certificate is for; undefined if it names nobody. Throws if it is not to be trusted, and TooManyRequests
 * where its address has shown too many that nobody knows.
 */
export type CertificateAuthenticator = (
  peer: PeerCertificates,
  call: CertificateCall,
) => Promise<Authenticated | undefined>

export interface AuthenticatorOptions {
  certificates: CertificateAuthenticator
  /** Tried in this order. */
  bearers: readonly BearerAuthenticator[]
  /** What a token must be meant for. */
  audiences: readonly string[]
  clock: Clock
  /** Off: a request without credentials is refused too. */
  allowAnonymous?: boolean
}

export type Authenticate = (request: ApiRequest) => Promise<Authenticated>

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
    if (caller !== undefined) return {user: withAuthenticatedGroup(caller)}

    const refusals: unknown[] = []
    const userAgent = headers['user-agent'] ?? ''
    if (peer !== undefined) {
      try {
        const found = await certificates(peer, {now: clock.now(), remoteAddress, userAgent})
        if (found !== undefined) return authenticated(found)
      } catch (error) {
        if (error instanceof StatusError) throw error
        refusals.push(new Error(`the client certificate: ${messageOf(error)}`, {cause: error}))
      }
    }

    const token = parseBearer(headers.authorization)
    if (token !== undefined) {
      try {
        const call = {userAgent, remoteAddress}
        return authenticated(await authenticateBearer(bearers, token, audiences, call))
      } catch (error) {
        refusals.push(error)
      }
    }

    if (refusals.length > 0 || !allowAnonymous) throw unauthorized(refusals.at(-1))
    return {user: anonymous()}
  }
}

const authenticated = ({user, issuer, key, expires}: Authenticated): Authenticated => ({
  user: withAuthenticatedGroup(user),
  ...(issuer === undefined ? {} : {issuer}),
  ...(key === undefined ? {} : {key}),
  ...(expires === undefined ? {} : {expires}),
})
