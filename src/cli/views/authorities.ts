import type {AuthorityReport} from '../../control-plane/authorities.ts'
import {formatColumns} from '../columns.ts'
import {columnsOf, formatFields} from '../layout.ts'
import type {View} from '../output.ts'
import {residual} from './human-time.ts'

const LABEL_WIDTH = 13
const COLUMNS = ['NAME', 'SUBJECT', 'ROLE', 'EXPIRES', 'PIN']
const [SUBJECT, PIN] = [1, 4] as const

const rowsOf = ({name, externallyManaged, certificates}: AuthorityReport): string[][] =>
  certificates.map(({subject, signs, certifiedBy, residualSeconds, pin}) => [
    name,
    subject,
    signs && !externallyManaged ? 'signs' : certifiedBy === undefined ? 'trusted' : 'cross-signed',
    residualSeconds <= 0 ? '<expired>' : residual(residualSeconds),
    pin,
  ])

const NARROWING = {
  least: new Map([
    [SUBJECT, 12],
    [PIN, 16],
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

/** `ca show`: everything about one CA. */
export const authorityView: View<AuthorityReport> = {
  table: (report) =>
    [
      formatFields(
        [
          ['name', report.name],
          ['file', report.location],
          ...addedFields(report),
          ['signs', signsOf(report)],
          ['trusted for', report.trustedFor.join(', ') || '<nothing>'],
        ],
        {columns: columnsOf(process.stdout), width: LABEL_WIDTH},
      ),
      formatColumns(COLUMNS, rowsOf(report), NARROWING),
    ].join('\n'),
  name: ({name}) => [name],
}
