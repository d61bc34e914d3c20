import type {Machine} from '../../api/machine.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {canonicalDns} from './address-book.ts'

/** A Machine with it is expected from then on, not from its creation on: `machine renew`. */
export const EXPECTED_FROM = 'trustadm.io/expected-from'

const SECOND = 1000
/** How far the clocks of those who create Machines and requests may differ. */
const CLOCK_SKEW = 10 * SECOND
/** OpenShift's figure: a machine that takes longer to start needs a person. */
const EXPECTED_FOR = 2 * 3600 * SECOND

/** When a Machine's first request is expected. */
export interface MachineWindow {
  from: Date
  until: Date
}

/** Undefined if its times cannot be read. */
export function windowOf({metadata}: Machine): MachineWindow | undefined {
  const {creationTimestamp = '', annotations = {}} = metadata
  const created = parseTimestamp(creationTimestamp ?? '')
  const renewed = annotations[EXPECTED_FROM]
  const from = renewed === undefined ? created : parseTimestamp(renewed)
  if (created === undefined || from === undefined) return undefined
  // An older time of somebody's template does not shorten it.
  const start = Math.max(created.getTime(), from.getTime())
  return {from: new Date(start), until: new Date(start + EXPECTED_FOR)}
}

export const isWithin = ({from, until}: MachineWindow, time: Date): boolean =>
  time.getTime() >= from.getTime() - CLOCK_SKEW && time <= until

/** The node names that a Machine vouches for. */
export const dnsNamesOf = ({status}: Machine): string[] => [
  ...new Set(
    (status?.addresses ?? [])
      .filter(({type, address}) => type === 'InternalDNS' && address !== '')
      .map(({address}) => canonicalDns(address)),
  ),
]
