import {TrustError} from '../../errors.ts'
import {CLIENT_CA, CLUSTER_CA} from '../certificates.ts'
import type {Action, Journal, UnitRecord} from './journal.ts'

const isOver = ({old}: UnitRecord, now: Date): boolean =>
  old.notAfter !== undefined && Date.parse(old.notAfter) <= now.getTime()

const hasExpired = ({units}: Journal, id: string, now: Date): boolean =>
  units.some((unit) => unit.id === id && isOver(unit, now))

/** The start again. Servers get certificates of the new CA if their old one has expired. Its steps can be repeated. */
const startedAgain = ({running: _running, ...journal}: Journal, now: Date): Journal => ({
  ...journal,
  action: 'start',
  ...(hasExpired(journal, CLUSTER_CA, now) && {isExpired: true}),
  ...(hasExpired(journal, CLIENT_CA, now) && {areClientsExpired: true}),
  done: journal.done.includes('create') || journal.action !== 'start' ? ['create'] : [],
})

/**
 * Notices that an old CA has expired since `start`. If it is that of servers, no client accepts them any more, so they get certificates of
 * the new CA at once. If it is that of clients, the server accepts nobody before the control plane's own certificates are renewed.
 */
export function withExpiry(journal: Journal, now: Date): Journal {
  if (journal.action !== 'start' || journal.phase !== 'Prepare' || journal.isExpired) return journal
  const areClientsLost =
    !journal.areClientsExpired &&
    !journal.done.includes('renew-clients') &&
    hasExpired(journal, CLIENT_CA, now)
  const isNew = areClientsLost || hasExpired(journal, CLUSTER_CA, now)
  return isNew ? startedAgain(journal, now) : journal
}

/** The new CAs that servers or clients need and that have expired: one that was brought along may end before its rotation does. */
const expiredNew = ({units}: Journal, now: Date): string[] =>
  units
    .filter(({id}) => id === CLUSTER_CA || id === CLIENT_CA)
    .filter(({new: {notAfter}}) => notAfter !== undefined && Date.parse(notAfter) <= now.getTime())
    .map(({id}) => `"${id}"`)

const hasExpiredOld = ({units}: Journal, now: Date): boolean =>
  units.some((unit) => isOver(unit, now))

/**
 * Whether nobody can talk to the server any more, because the new CAs have expired and the old ones cannot be used either. The rest is done
 * without it, so that another rotation can begin.
 */
export const isLost = (journal: Journal, now: Date): boolean =>
  expiredNew(journal, now).length > 0 &&
  (journal.action === 'complete' || hasExpiredOld(journal, now))

/** Refuses to depend on new CAs that have expired, as long as there is a way back. */
export function requireNewUsable(journal: Journal, now: Date): void {
  const expired = expiredNew(journal, now)
  if (expired.length === 0 || hasExpiredOld(journal, now)) return
  throw new TrustError(
    'CONFLICT',
    `the rotation cannot be completed: the new CA ${expired.join(', ')} has expired`,
    {hints: ['go back with "trustadm ca rotate abort", then start again with another CA']},
  )
}

/** Whether an old CA has expired and what the control plane itself needs of the new one is not there yet. */
export const isStuck = ({isExpired, areClientsExpired, done}: Journal): boolean =>
  isExpired
    ? !done.includes('renew-everything')
    : areClientsExpired === true && !done.includes('renew-clients')

/** Whether some of the new CAs may be gone. */
const isRemovingNew = ({running, done}: Journal): boolean =>
  running === 'remove-new' || done.includes('remove-new')

/** An abort of which an old CA has expired, whichever it is, can only go forward again, as long as the new CAs exist. */
export function turnedBack(journal: Journal, now: Date): Journal {
  const isAborting = journal.action === 'abort' && journal.phase === 'Prepare'
  const isRemoving = isRemovingNew(journal) || !journal.units.every(({new: {pin}}) => pin)
  return isAborting && !isRemoving && journal.units.some((unit) => isOver(unit, now))
    ? startedAgain(journal, now)
    : withExpiry(journal, now)
}

/** The journal as a command finds it now. */
export const foundBy = (action: Action, stored: Journal | undefined, now: Date) =>
  stored && (action === 'start' ? turnedBack(stored, now) : withExpiry(stored, now))

/** Refuses to go back to CAs that have expired: what they sign is valid for nobody. */
export function requireUsable(journal: Journal, now: Date): void {
  const {units, done, action} = journal
  // What was never complete is not used by anybody, and is only removed.
  if (action === 'start' && !done.includes('create')) return
  // Nobody uses the new CAs any more, and some of them may be gone.
  if (action === 'abort' && isRemovingNew(journal)) return
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
