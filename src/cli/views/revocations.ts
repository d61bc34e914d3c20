import type {RevocationReport, RevokedCertificates} from '../../control-plane/revocation/revoke.ts'
import type {
  RevocationListReport,
  UnrevokedCertificates,
} from '../../control-plane/revocation/unrevoke.ts'
import type {WithdrawnMachines} from '../../control-plane/revocation/with-machines.ts'
import {ageOf} from '../../server/table/human-duration.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import type {View} from '../output.ts'
import {residual} from './human-time.ts'
import {shown, shownValue} from './requests-text.ts'

const COLUMNS = ['USER', 'SERIAL', 'REVOKED', 'EXPIRES', 'REASON']
const WIDE_COLUMNS = [...COLUMNS, 'BY', 'REQUEST', 'KEY']
const [USER, SERIAL, EXPIRES, REASON] = [0, 1, 3, 4] as const
const NARROWING: Narrowing = {
  least: new Map([
    [USER, 14],
    [REASON, 10],
  ]),
  droppable: [EXPIRES],
  last: {least: new Map([[SERIAL, 12]])},
  cutFront: new Set([USER]),
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

const orNone = (text: string | null): string => (text ? shown(text) : '<none>')

function row(report: RevocationReport, now: Date): string[] {
  const {user, serial, revoked, expires, reason, until} = report
  const left = expires === null ? null : (Date.parse(expires) - now.getTime()) / 1000
  return [
    user ? shownValue(user) : '<unknown>',
    until === undefined ? orNone(serial) : '<all>',
    revoked === null ? '<unknown>' : `${ageOf(revoked, now)} ago`,
    expires === null ? '<never>' : residual(left),
    orNone(reason),
  ]
}

const wideRow = (report: RevocationReport, now: Date): string[] => [
  ...row(report, now),
  orNone(report.by),
  orNone(report.request),
  report.pin ?? '<kept>',
]

const nameOf = ({serial, pin, user}: RevocationReport): string => serial ?? pin ?? user ?? ''

const tableOf = (reports: readonly RevocationReport[], isWide: boolean, now: Date): string =>
  isWide
    ? formatColumns(
        WIDE_COLUMNS,
        reports.map((one) => wideRow(one, now)),
        AS_WIDE_AS_NEEDED,
      )
    : formatColumns(
        COLUMNS,
        reports.map((one) => row(one, now)),
        NARROWING,
      )

export const revocationListView = (isWide: boolean, now: Date): View<RevocationListReport> => ({
  table: ({revocations}) => tableOf(revocations, isWide, now),
  name: ({revocations}) => revocations.map(nameOf),
})

/** `the key of "ada"`, or the single certificate. */
function described({user, pin, serial, until}: RevocationReport): string {
  const whose = user ? ` of ${shownValue(user)}` : ''
  if (until !== undefined) return `whole past${whose}, until ${until}`
  return pin === null ? `certificate ${serial ?? ''}${whose}` : `key ${pin.slice(0, 19)}…${whose}`
}

export const revokedView = (isDryRun: boolean): View<RevokedCertificates> => ({
  table: ({revoked, unchanged}) =>
    [
      ...revoked.map((one) => `${isDryRun ? 'would revoke' : 'revoked'} the ${described(one)}\n`),
      ...unchanged.map((one) => `the ${described(one)} is already revoked\n`),
    ].join(''),
  name: ({revoked, unchanged}) => [...revoked, ...unchanged].map(nameOf),
})

export const unrevokedView = (isDryRun: boolean): View<UnrevokedCertificates> => ({
  table: ({unrevoked}) =>
    unrevoked
      .map((one) => `the ${described(one)} ${isDryRun ? 'would be' : 'is'} accepted again\n`)
      .join(''),
  name: ({unrevoked}) => unrevoked.map(nameOf),
})

/** What `--with-machines` has done; the Nodes are for a person to delete. */
export const withdrawnView = (
  isDryRun: boolean,
): View<WithdrawnMachines & {deleted: readonly string[]}> => ({
  table: ({deleted, certificates, nodes}) =>
    [
      ...deleted.map((id) => `${isDryRun ? 'would delete' : 'deleted'} "${id}"\n`),
      ...certificates.map(
        (one) => `${isDryRun ? 'would revoke' : 'revoked'} the ${described(one)}\n`,
      ),
      ...nodes.map(({name, cordoned}) =>
        cordoned
          ? `${isDryRun ? 'would cordon' : 'cordoned'} node "${shown(name)}"\n`
          : `node "${shown(name)}" does not exist\n`,
      ),
      ...(nodes.some(({cordoned}) => cordoned) && !isDryRun
        ? [
            `to delete the nodes: kubectl delete node ${nodes
              .filter(({cordoned}) => cordoned)
              .map(({name}) => shown(name))
              .join(' ')}\n`,
          ]
        : []),
    ].join(''),
  name: ({nodes}) => nodes.map(({name}) => name),
})
