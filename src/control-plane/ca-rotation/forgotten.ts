import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import type {SeenList} from '../../server/authn/seen-clients.ts'
import {type Dependent, type DependentOptions, type Evidence, partsOf} from './dependent.ts'
import {labelOf} from './following.ts'
import type {Journal} from './journal.ts'

/** As `--ignore` takes them: nobody knows their names. */
const FORGOTTEN_CLIENTS = 'forgotten-clients'
const FORGOTTEN_TOKENS = 'forgotten-tokens'
const FORGOTTEN_CERTIFICATES = 'forgotten-certificates'

interface Kind {
  name: string
  unit: string
  /** What they are called. */
  many: string
  list: (seen: NonNullable<Evidence['seen']>) => SeenList
}

const KINDS: readonly Kind[] = [
  {name: FORGOTTEN_CLIENTS, unit: 'client-ca', many: 'client certificates', list: (seen) => seen},
  {
    name: FORGOTTEN_TOKENS,
    unit: SERVICE_ACCOUNT_KEYS.id,
    many: 'tokens of service accounts',
    list: ({tokens}) => tokens,
  },
]

/** Those of one kind that may depend on the generation without the server knowing it any more. */
function forgottenOf(
  {lastInitiation, units}: Journal,
  {seen, unasked = [], stopped = []}: Evidence,
  pins: ReadonlySet<string>,
  {name, unit, many, list}: Kind,
  {on, now, unseenFor}: DependentOptions,
): Dependent[] {
  // What was off since before the CA was there has seen nobody with it.
  const begin = units.find(({id}) => id === unit)?.[on].notBefore ?? ''
  const todo = `find out who used ${many} of the old CA; then go on with --ignore ${name}, or with --ignore-unseen-since`
  const dependent = (reason: string, lastSeen?: string): Dependent[] => {
    const isGone =
      unseenFor !== undefined &&
      lastSeen !== undefined &&
      now.getTime() - Date.parse(lastSeen) > unseenFor
    if (isGone) return []
    return [{kind: 'forgotten', name, reasons: [reason], todo, ...(lastSeen && {lastSeen})}]
  }
  if (!seen) return dependent('the server does not remember which clients it has seen')
  const dropped = list(seen).forgotten.filter(
    ({issuerPin}) => issuerPin === '' || pins.has(issuerPin),
  )
  const count = dropped.reduce((sum, one) => sum + one.count, 0)
  const last = dropped
    .map(({lastSeen}) => lastSeen)
    .sort()
    .at(-1)
  return [
    ...unasked.flatMap((server) =>
      dependent(`a server cannot be asked which clients it has seen: ${server}`),
    ),
    ...stopped
      .filter(({time}) => time === '' || time > begin)
      .flatMap((server) =>
        dependent(
          `the list of clients of ${labelOf({...server, hostname: server.host})} cannot be read: it is off since ${server.time || 'an unknown time'}; start it`,
          server.time,
        ),
      ),
    ...(seen.since > lastInitiation
      ? dependent(
          `clients may have been forgotten: the list of clients was lost and begins at ${seen.since}, after the rotation`,
          seen.since,
        )
      : []),
    ...(count > 0
      ? dependent(`${count} ${many} were forgotten, because there were too many`, last)
      : []),
  ]
}

/** Servers that have signed and whose logs nobody can read: who got a certificate there and was not seen since is not known. */
function unreadDependents(
  {units}: Journal,
  {unread = []}: Evidence,
  {on, now, unseenFor}: DependentOptions,
): Dependent[] {
  if (partsOf(units, 'client-ca', on).pins.size === 0) return []
  const isGone = (time: string) =>
    unseenFor !== undefined && now.getTime() - Date.parse(time) > unseenFor
  return unread
    .filter(({time}) => !time || !isGone(time))
    .map(({server, time}) => ({
      kind: 'forgotten',
      name: FORGOTTEN_CERTIFICATES,
      reasons: [`the issuance log of ${server} was not read: its server is off or cannot be asked`],
      todo: `start the server on ${server}; or find out from its log who has a certificate ("trustadm certificate log" there), then go on with --ignore ${FORGOTTEN_CERTIFICATES}`,
      ...(time && {lastSeen: time}),
    }))
}

/** What was issued and is not listed one by one. */
function unlistedDependents(
  {units}: Journal,
  {unlisted = []}: Evidence,
  {on, now, unseenFor}: DependentOptions,
): Dependent[] {
  const {fingerprints} = partsOf(units, 'client-ca', on)
  const since = units.find(({id}) => id === 'client-ca')?.[on].notBefore ?? ''
  const todo = (server: string) =>
    `find out from the log on ${server} who has one ("trustadm certificate log" there), then go on with --ignore ${FORGOTTEN_CERTIFICATES}`
  return unlisted.flatMap(({server, more, began}) => {
    const count = more
      .filter(({issuerFingerprint}) => fingerprints.has(issuerFingerprint))
      .reduce((sum, one) => sum + one.count, 0)
    const isGone =
      began !== undefined &&
      unseenFor !== undefined &&
      now.getTime() - Date.parse(began) > unseenFor
    const isMoved = fingerprints.size > 0 && began !== undefined && began > since && !isGone
    const reasons = [
      ...(count > 0
        ? [`${count} more certificates in the issuance log of ${server} are not listed`]
        : []),
      ...(isMoved
        ? [`the issuance log of ${server} before ${began} was moved away: what it has is not known`]
        : []),
    ]
    return reasons.length === 0
      ? []
      : [{kind: 'forgotten', name: FORGOTTEN_CERTIFICATES, reasons, todo: todo(server)} as const]
  })
}

/** Whether clients may depend on the generation of whom the server knows nothing any more: its list was lost, or was too short. */
export const forgottenDependents = (
  journal: Journal,
  evidence: Evidence,
  options: DependentOptions,
): Dependent[] => [
  ...KINDS.flatMap((kind) => {
    const {pins} = partsOf(journal.units, kind.unit, options.on)
    return pins.size === 0 ? [] : forgottenOf(journal, evidence, pins, kind, options)
  }),
  ...unreadDependents(journal, evidence, options),
  ...unlistedDependents(journal, evidence, options),
]
