import type {ConfigMap} from '../../api/core.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {formatTimestamp} from '../../runtime.ts'

/** Whom an operator lets in: one key, or one requester's next request after a revision of the store. */
export type GrantedTo = {pin: string} | {requester: string; after: string}

/** An operator's permission for one machine to take a name, until it expires. */
export interface RejoinGrant {
  until: Date
  to: GrantedTo
}

/** The request that a grant is checked against. */
export interface Asker {
  pin: string
  requester: string
  /** The request's resourceVersion. */
  revision: string
}

/** Undefined also for a grant that names nobody: it would let anyone in. */
export function readGrant({data = {}}: ConfigMap): RejoinGrant | undefined {
  const {rejoinKey: pin, rejoinRequester: requester, rejoinAfter: after} = data
  const until = data.rejoinUntil === undefined ? undefined : parseTimestamp(data.rejoinUntil)
  if (until === undefined) return undefined
  if (pin) return {until, to: {pin}}
  return requester && after ? {until, to: {requester, after}} : undefined
}

/** Also for one that cannot be read. */
export const hasGrant = ({data}: ConfigMap): boolean => data?.rejoinUntil !== undefined

export function withoutGrant(object: ConfigMap): ConfigMap {
  const {
    rejoinUntil: _until,
    rejoinKey: _key,
    rejoinRequester: _requester,
    rejoinAfter: _after,
    ...data
  } = object.data ?? {}
  return {...object, data}
}

/** Replaces an earlier grant. */
export function withGrant(object: ConfigMap, {until, to}: RejoinGrant): ConfigMap {
  const free = withoutGrant(object)
  return {
    ...free,
    data: {
      ...free.data,
      rejoinUntil: formatTimestamp(until),
      ...('pin' in to
        ? {rejoinKey: to.pin}
        : {rejoinRequester: to.requester, rejoinAfter: to.after}),
    },
  }
}

/** Revisions are numbers that only grow, in etcd and in our own store. Anything else is not after any revision. */
export const isLater = (revision: string, than: string): boolean =>
  /^\d{1,20}$/.test(revision) && /^\d{1,20}$/.test(than) && BigInt(revision) > BigInt(than)

export const lets = ({to}: RejoinGrant, {pin, requester, revision}: Asker): boolean =>
  'pin' in to ? to.pin === pin : to.requester === requester && isLater(revision, to.after)

export const describeGrant = ({to}: RejoinGrant): string =>
  'pin' in to
    ? `the key ${to.pin}`
    : `the next request that "${to.requester}" makes after it was allowed`
