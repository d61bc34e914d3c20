import {createHash, type KeyObject, randomUUID} from 'node:crypto'
import {
  compactVerify,
  decodeJwt as decodePayload,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  SignJWT,
} from 'jose'
import type {UserInfo} from '../../api/meta.ts'
import {CREDENTIAL_ID, tokenCredential} from '../../csr/user-extra.ts'
import type {Clock} from '../../runtime.ts'
import type {RevocationList} from '../../trust/revocations.ts'
import {
  algorithmsOf,
  pinOfKeyId,
  TOKEN_ALGORITHMS,
  type TokenAlgorithm,
  type TokenKeys,
} from '../../trust/token-keys.ts'
import type {ObjectReader} from '../kernel/resource.ts'
import type {IssuedToken, TokenOrder} from '../kernel/services.ts'
import {serviceAccountGroups, serviceAccountUsername} from '../kernel/users.ts'
import type {BearerAuthenticator, BearerCall} from './bearer.ts'
import {BoundedCache} from '../limits/bounded-cache.ts'
import type {SeenClients} from './seen-clients.ts'
import {
  decodeClaims,
  encodeClaims,
  type ObjectClaim,
  type ServiceAccountClaims,
} from './service-account-claims.ts'

export const signJwt = (
  claims: JWTPayload,
  {key, algorithm, id}: {key: KeyObject; algorithm: TokenAlgorithm; id: string},
): Promise<string> => new SignJWT(claims).setProtectedHeader({alg: algorithm, kid: id}).sign(key)

interface DecodedJwt {
  token: string
  kid?: string
  claims: JWTPayload
}

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** Reads a token without believing any of it. Undefined if it is no JWT, or one with an `alg` that is not ours or critical headers. */
function decodeJwt(token: string): DecodedJwt | undefined {
  if (!FORM.test(token)) return undefined
  try {
    const {alg, kid, crit} = decodeProtectedHeader(token)
    if (!TOKEN_ALGORITHMS.some((one) => one === alg) || crit !== undefined) return undefined
    if (kid !== undefined && typeof kid !== 'string') return undefined
    return {token, claims: decodePayload(token), ...(kid === undefined ? {} : {kid})}
  } catch {
    return undefined
  }
}

async function isSignedBy({token}: DecodedJwt, key: KeyObject): Promise<boolean> {
  try {
    await compactVerify(token, key, {algorithms: [...algorithmsOf(key)]})
    return true
  } catch (error) {
    // Not an error of ours: the token is signed with another key or by another algorithm.
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}

export interface ServiceAccountTokenOptions {
  /** The first one is put into new tokens; all are believed. */
  issuers: readonly [string, ...string[]]
  /** Read again for each token, so that keys can be changed while the server runs. */
  keys: () => TokenKeys
  objects: ObjectReader
  clock: Clock
  /** The tokens that were revoked, whatever becomes of what they are bound to. */
  revoked?: Pick<RevocationList, 'findToken'> | undefined
  /** Receives every token that authenticates, so that a key is not withdrawn while its tokens are in use. */
  seen?: Pick<SeenClients, 'note'> | undefined
}

const LEEWAY_SECONDS = 60
const MAX_CACHED = 4096
const EXTRA_PREFIX = 'authentication.kubernetes.io/'

/** Tokens that are shown to other servers, which ask about them. */
const REVIEW: BearerCall = {userAgent: 'TokenReview', remoteAddress: ''}

interface Verified {
  claims: ServiceAccountClaims
  keyId: string
}

/** Signs a token for a TokenRequest that has been validated. */
export async function issueServiceAccountToken(
  {issuers, keys, clock}: Pick<ServiceAccountTokenOptions, 'clock' | 'issuers' | 'keys'>,
  order: TokenOrder,
): Promise<IssuedToken> {
  const now = Math.floor(clock.now().getTime() / 1000)
  const claims = encodeClaims(order, {issuer: issuers[0], id: randomUUID(), now})
  const token = await signJwt(claims, keys().signing)
  return {token, expires: new Date((now + order.expirationSeconds) * 1000)}
}

/**
 * Kubernetes' service-account authenticator. A signature is checked once for a token; its times, its audiences, and that
 * the account and what the token is bound to still exist, on every request.
 */
export function serviceAccountAuthenticator(
  options: ServiceAccountTokenOptions,
): BearerAuthenticator {
  const {issuers, keys, objects, clock, seen, revoked} = options
  const verified = new BoundedCache<Verified>(MAX_CACHED)

  return {
    name: 'service-account',
    async authenticate(token, audiences, call = REVIEW) {
      const hash = createHash('sha256').update(token).digest('base64url')
      const {verification} = keys()
      let known = verified.get(hash)
      // A key that is not believed any more takes its tokens with it.
      if (known === undefined || !verification.some(({id}) => id === known?.keyId)) {
        const jwt = decodeJwt(token)
        if (!issuers.some((issuer) => issuer === jwt?.claims.iss)) return undefined
        known = await verifySignature(jwt, keys())
        verified.set(hash, known)
      }
      const {claims} = known
      const now = clock.now()
      requireCurrent(claims, now)
      if (revoked?.findToken(claims.id)) throw new Error('it was revoked')
      const meantFor = audiences.filter((audience) => claims.audiences.includes(audience))
      if (meantFor.length === 0) throw new Error('the token is not meant for these audiences')
      const end = requireBoundObjects(claims, objects, now)
      const expires = new Date(Math.min(end, (claims.expires + LEEWAY_SECONDS) * 1000))
      const user = userOf(claims)
      seen?.note({name: user.username, groups: []}, seenToken(known, hash), {...call, now})
      return {user, audiences: meantFor, expires}
    },
  }
}

/**
 * What is remembered of a token. A pod gets new tokens all the time, which replace each other: they are one entry for each key. Any other token
 * is one of its own: nobody knows who else has it.
 */
function seenToken({claims, keyId}: Verified, hash: string) {
  const {subject, namespace, pod, id, expires} = claims
  const holder = pod && `pod ${namespace}/${pod.name} (${pod.uid ?? ''})`
  return {
    fingerprint: `${keyId} ${subject} ${holder ?? id ?? hash}`,
    issuerPin: pinOfKeyId(keyId),
    serial: '',
    holder,
    notAfter: new Date(expires * 1000),
  }
}

async function verifySignature(jwt: DecodedJwt | undefined, keys: TokenKeys): Promise<Verified> {
  const claims = jwt === undefined ? undefined : decodeClaims(jwt.claims)
  if (jwt === undefined || claims === undefined) throw new Error('the token is malformed')
  const {kid} = jwt
  for (const {id, key} of keys.verification) {
    if ((kid === undefined || kid === '' || kid === id) && (await isSignedBy(jwt, key))) {
      return {claims, keyId: id}
    }
  }
  throw new Error('no key of ours has signed the token')
}

function requireCurrent({expires, notBefore, issued}: ServiceAccountClaims, now: Date): void {
  const seconds = now.getTime() / 1000
  if (seconds - LEEWAY_SECONDS > expires) throw new Error('the token has expired')
  if (seconds + LEEWAY_SECONDS < Math.max(notBefore, issued)) {
    throw new Error('the token is not valid yet')
  }
}

/** Throws if what the token is bound to is gone; returns when it will be, in milliseconds, if that is known. */
function requireBoundObjects(
  {subject, namespace, serviceAccount, pod, secret, node}: ServiceAccountClaims,
  objects: ObjectReader,
  now: Date,
): number {
  let end = Infinity
  if (subject !== serviceAccountUsername(namespace, serviceAccount.name)) {
    throw new Error('the subject is not the service account')
  }
  const requireAlive = (plural: string, home: string, claim: ObjectClaim | undefined) => {
    if (claim === undefined) return
    const metadata = objects.get(plural, '', home, claim.name)?.metadata
    if (metadata === undefined || metadata.uid !== claim.uid) {
      throw new Error(`what the token is bound to is gone: ${plural}`)
    }
    const {deletionTimestamp} = metadata
    if (deletionTimestamp === undefined) return
    const gone = Date.parse(deletionTimestamp) + LEEWAY_SECONDS * 1000
    if (gone < now.getTime()) {
      throw new Error(`what the token is bound to is being deleted: ${plural}`)
    }
    end = Math.min(end, gone)
  }
  requireAlive('serviceaccounts', namespace, serviceAccount)
  requireAlive('secrets', namespace, secret)
  requireAlive('pods', namespace, pod)
  // With a pod, the node only says where the pod runs; alone, it is what the token is bound to.
  if (pod === undefined) requireAlive('nodes', '', node)
  return end
}

function userOf({
  subject,
  namespace,
  serviceAccount,
  id,
  pod,
  node,
}: ServiceAccountClaims): UserInfo {
  const extra: Record<string, string[]> = {}
  const add = (key: string, value: string | undefined) => {
    if (value !== undefined && value !== '') extra[key] = [value]
  }
  add(CREDENTIAL_ID, id === undefined ? undefined : tokenCredential(id))
  add(`${EXTRA_PREFIX}node-name`, node?.name)
  add(`${EXTRA_PREFIX}node-uid`, node?.uid)
  add(`${EXTRA_PREFIX}pod-name`, pod?.name)
  add(`${EXTRA_PREFIX}pod-uid`, pod?.uid)
  return {
    username: subject,
    ...(serviceAccount.uid === undefined ? {} : {uid: serviceAccount.uid}),
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length === 0 ? {} : {extra}),
  }
}
