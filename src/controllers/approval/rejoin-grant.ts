import type {Lease} from '../../api/coordination.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {formatTimestamp} from '../../runtime.ts'

/** A label on records with a grant, so that a watch can select them. */
const GRANT_LABEL = 'trustadm.io/rejoin-allowed'
export const GRANT_ANNOTATION = 'trustadm.io/rejoin-allowed-until'
const KEY = 'trustadm.io/rejoin-allowed-key'
const REQUESTER = 'trustadm.io/rejoin-allowed-requester'
const AFTER = 'trustadm.io/rejoin-allowed-after'

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
export function readGrant({metadata: {annotations = {}}}: Lease): RejoinGrant | undefined {
  const {[GRANT_ANNOTATION]: time, [KEY]: pin, [REQUESTER]: requester, [AFTER]: after} = annotations
  const until = time === undefined ? undefined : parseTimestamp(time)
  if (until === undefined) return undefined
  if (pin) return {until, to: {pin}}
  return requester && after ? {until, to: {requester, after}} : undefined
}

export function withoutGrant(lease: Lease): Lease {
  const {[GRANT_LABEL]: _label, ...labels} = lease.metadata.labels ?? {}
  const {
    [GRANT_ANNOTATION]: _until,
    [KEY]: _key,
    [REQUESTER]: _requester,
    [AFTER]: _after,
    ...annotations
  } = lease.metadata.annotations ?? {}
  return {...lease, metadata: {...lease.metadata, labels, annotations}}
}

/** Replaces an earlier grant. */
export function withGrant(lease: Lease, {until, to}: RejoinGrant): Lease {
  const {metadata, ...rest} = withoutGrant(lease)
  return {
    ...rest,
    metadata: {
      ...metadata,
      labels: {...metadata.labels, [GRANT_LABEL]: ''},
      annotations: {
        ...metadata.annotations,
        [GRANT_ANNOTATION]: formatTimestamp(until),
        ...('pin' in to ? {[KEY]: to.pin} : {[REQUESTER]: to.requester, [AFTER]: to.after}),
      },
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
