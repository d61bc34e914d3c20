import type {AuthorityReport} from '../../control-plane/authorities.ts'
import {formatColumns} from '../columns.ts'
import type {View} from '../output.ts'
import {residual} from './human-time.ts'

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
    [PIN, 20],
  ]),
}

/** `ca list`: a line for each certificate of each CA. */
export const authorityListView: View<{authorities: AuthorityReport[]}> = {
  table: ({authorities}) => formatColumns(COLUMNS, authorities.flatMap(rowsOf), NARROWING),
  name: ({authorities}) => authorities.map(({name}) => name),
}

function addedLines({added}: AuthorityReport): string[] {
  if (!added) return []
  return [
    ...(added.description === undefined ? [] : [`for          ${added.description}`]),
    `on change    ${added.onChange ?? '<nothing>'}`,
  ]
}

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
      `name         ${report.name}`,
      `file         ${report.location}`,
      ...addedLines(report),
      `signs        ${report.signsFor.join(', ') || (report.added ? `${report.added.signs} of yours` : '<nothing>')}`,
      `trusted for  ${report.trustedFor.join(', ') || '<nothing>'}`,
      '',
      formatColumns(COLUMNS, rowsOf(report), NARROWING),
    ].join('\n'),
  name: ({name}) => [name],
}
