import type {JWTPayload} from 'jose'
import {isObject, type JsonObject} from '../kernel/json-value.ts'
import type {TokenOrder} from '../kernel/services.ts'
import {serviceAccountUsername} from '../kernel/users.ts'

export interface ObjectClaim {
  name: string
  uid?: string
}

/** What a service-account token says, once its signature and times have been checked. */
export interface ServiceAccountClaims {
  issuer: string
  subject: string
  audiences: string[]
  /** In seconds, as all times in a JWT. */
  expires: number
  issued: number
  notBefore: number
  id?: string
  namespace: string
  serviceAccount: ObjectClaim
  pod?: ObjectClaim
  secret?: ObjectClaim
  node?: ObjectClaim
}

/** The wire form, with names in the order in which Kubernetes' own tokens have them. */
export function encodeClaims(
  {serviceAccount, audiences, expirationSeconds, bound}: TokenOrder,
  {issuer, id, now}: {issuer: string; id: string; now: number},
): JWTPayload {
  const {namespace, name, uid} = serviceAccount
  const node = bound?.kind === 'Node' ? {name: bound.name, uid: bound.uid} : bound?.node
  return {
    aud: audiences,
    exp: now + expirationSeconds,
    iat: now,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(node === undefined
        ? {}
        : {node: {name: node.name, ...(node.uid === '' ? {} : {uid: node.uid})}}),
      ...(bound?.kind === 'Pod' ? {pod: {name: bound.name, uid: bound.uid}} : {}),
      ...(bound?.kind === 'Secret' ? {secret: {name: bound.name, uid: bound.uid}} : {}),
      serviceaccount: {name, uid},
    },
    nbf: now,
    sub: serviceAccountUsername(namespace, name),
  }
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

function objectClaim(value: unknown): ObjectClaim | undefined {
  if (!isObject(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const {name, uid} = value
  return {name, ...(typeof uid === 'string' ? {uid} : {})}
}

function audiencesOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((one) => typeof one === 'string')
}

/** Reads claims; undefined if one that is needed is missing or of the wrong type. Nothing bound is ever left out silently. */
export function decodeClaims(claims: JsonObject): ServiceAccountClaims | undefined {
  const {iss, sub, aud, exp, iat, nbf, jti, 'kubernetes.io': kubernetes} = claims
  if (typeof iss !== 'string' || typeof sub !== 'string' || !isObject(kubernetes)) return undefined
  if (!isTime(exp) || !isTime(iat) || !isTime(nbf)) return undefined
  const {namespace, serviceaccount} = kubernetes
  const serviceAccount = objectClaim(serviceaccount)
  if (typeof namespace !== 'string' || serviceAccount === undefined) return undefined

  const bound: Pick<ServiceAccountClaims, 'node' | 'pod' | 'secret'> = {}
  for (const kind of ['pod', 'secret', 'node'] as const) {
    if (kubernetes[kind] === undefined) continue
    const claim = objectClaim(kubernetes[kind])
    if (claim === undefined) return undefined
    bound[kind] = claim
  }
  return {
    issuer: iss,
    subject: sub,
    audiences: audiencesOf(aud),
    expires: exp,
    issued: iat,
    notBefore: nbf,
    ...(typeof jti === 'string' ? {id: jti} : {}),
    namespace,
    serviceAccount,
    ...bound,
  }
}
