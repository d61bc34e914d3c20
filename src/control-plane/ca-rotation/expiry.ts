import {TrustError} from '../../errors.ts'
import {CLUSTER_CA} from '../certificates.ts'
import type {Journal, UnitRecord} from './journal.ts'

const isOver = ({old}: UnitRecord, now: Date): boolean =>
  old.notAfter !== undefined && Date.parse(old.notAfter) <= now.getTime()

const isServersOver = ({units}: Journal, now: Date): boolean =>
  units.some((unit) => unit.id === CLUSTER_CA && isOver(unit, now))

/** The start again, in which servers get certificates of the new CA. Its steps can be repeated. */
const startedAgain = ({running: _running, ...journal}: Journal): Journal => ({
  ...journal,
  action: 'start',
  isExpired: true,
  done: journal.done.includes('create') || journal.action !== 'start' ? ['create'] : [],
})

/**
 * Notices that the old CA of servers has expired since `start`: no client accepts the servers any more, so they get certificates of the
 * new CA at once.
 */
export function withExpiry(journal: Journal, now: Date): Journal {
  const isPreparing = journal.action === 'start' && journal.phase === 'Prepare'
  const isNew = isPreparing && !journal.isExpired && isServersOver(journal, now)
  return isNew ? startedAgain(journal) : journal
}

/** An abort whose old CA has expired can only go forward again, as long as the new CAs exist. */
export function turnedBack(journal: Journal, now: Date): Journal {
  const isAborting = journal.action === 'abort' && journal.phase === 'Prepare'
  const isRemoving = journal.running === 'remove-new' || !journal.units.every(({new: {pin}}) => pin)
  return isAborting && !isRemoving && isServersOver(journal, now)
    ? startedAgain(journal)
    : withExpiry(journal, now)
}

/** Refuses to go back to CAs that have expired: what they sign is valid for nobody. */
export function requireUsable({units, done, action}: Journal, now: Date): void {
  // What was never complete is not used by anybody, and is only removed.
  if (action === 'start' && !done.includes('create')) return
  const expired = units.filter((unit) => isOver(unit, now)).map(({id}) => `"${id}"`)
  if (expired.length === 0) return
  throw new TrustError(
    'CONFLICT',
    `the rotation cannot be aborted: the old CA ${expired.join(', ')} has expired, and nothing that it signs would be valid`,
    {
      hints: [
        'run "trustadm ca rotate start" to sign with the new CAs, then "trustadm ca rotate complete"',
      ],
    },
  )
}
