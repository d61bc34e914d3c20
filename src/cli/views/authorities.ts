import type {AuthorityReport} from '../../control-plane/ca-rotation/authorities.ts'
import {formatColumns} from '../columns.ts'
import {columnsOf, formatFields} from '../layout.ts'
import type {View} from '../output.ts'
import {residual} from './human-time.ts'
import {moment} from './obtained.ts'

const LABEL_WIDTH = 13
const COLUMNS = ['NAME', 'GEN', 'SUBJECT', 'ROLE', 'EXPIRES', 'PIN']
const [SUBJECT, PIN] = [2, 5] as const

type Shown = AuthorityReport['certificates'][number]

const roleOf = (
  {externallyManaged}: Pick<AuthorityReport, 'externallyManaged'>,
  {signs, certifiedBy}: Pick<Shown, 'signs' | 'certifiedBy'>,
): string => {
  if (signs && !externallyManaged) return 'signs'
  return certifiedBy === undefined ? 'trusted' : 'cross-signed'
}

const leftOf = ({residualSeconds}: Pick<Shown, 'residualSeconds'>): string =>
  residualSeconds <= 0 ? '<expired>' : residual(residualSeconds)

const generationOf = ({generation}: Pick<Shown, 'generation'>): string => String(generation ?? '-')

const rowsOf = (report: AuthorityReport): string[][] =>
  report.certificates.map((one) => [
    report.name,
    generationOf(one),
    one.subject,
    roleOf(report, one),
    leftOf(one),
    one.pin,
  ])

const NARROWING = {
  least: new Map([
    [SUBJECT, 10],
    [PIN, 12],
  ]),
}

/** `ca list`: a line for each certificate of each CA. */
export const authorityListView: View<{authorities: AuthorityReport[]}> = {
  table: ({authorities}) => formatColumns(COLUMNS, authorities.flatMap(rowsOf), NARROWING),
  name: ({authorities}) => authorities.map(({name}) => name),
}

function addedFields({added}: AuthorityReport): [string, string][] {
  if (!added) return []
  return [
    ...(added.description === undefined ? [] : [['for', added.description] as [string, string]]),
    ['on change', added.onChange ?? '<nothing>'],
  ]
}

const signsOf = ({signsFor, added}: AuthorityReport): string =>
  signsFor.join(', ') || (added ? `${added.signs} of yours` : '<nothing>')

/** `ca remove`. */
export const removedAuthorityView: View<{name: string; removed: string[]}> = {
  table: ({name, removed}) =>
    `The CA "${name}" was removed.\n${removed.map((file) => `removed ${file}\n`).join('')}`,
  name: ({name}) => [name],
}

const certificateFields = (report: AuthorityReport, one: Shown): [string, string][] => [
  ['subject', one.subject],
  ['generation', generationOf(one)],
  ['role', roleOf(report, one)],
  ['valid until', `${moment(one.notAfter)} (${leftOf(one)})`],
  ['pin', one.pin],
]

/** `ca show`: everything about one CA. Nothing is cut: pins are compared. */
export const authorityView: View<AuthorityReport> = {
  table: (report) =>
    [
      [
        ['name', report.name],
        ['file', report.location],
        ...addedFields(report),
        ['signs', signsOf(report)],
        ['trusted for', report.trustedFor.join(', ') || '<nothing>'],
      ] satisfies [string, string][],
      ...report.certificates.map((one) => certificateFields(report, one)),
    ]
      .map((fields) =>
        formatFields(fields, {columns: columnsOf(process.stdout), width: LABEL_WIDTH}),
      )
      .join('\n'),
  name: ({name}) => [name],
}
