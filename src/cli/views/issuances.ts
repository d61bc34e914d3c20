import {printable} from '../../client/printable.ts'
import type {IssuanceReport} from '../../control-plane/issuances.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'

const COLUMNS = [
  'TIME',
  'DECISION',
  'SIGNER',
  'REQUEST',
  'REQUESTER',
  'SUBJECT',
  'EXPIRES',
  'REASON',
]
const WIDE_COLUMNS = ['NAMES', 'ISSUER', 'SERIAL', 'FINGERPRINT', 'HASH']
const [SIGNER, REQUEST, REQUESTER, SUBJECT, EXPIRES, REASON] = [2, 3, 4, 5, 6, 7] as const
const NARROWING: Narrowing = {
  least: new Map([
    [SIGNER, 10],
    [REQUEST, 12],
    [REQUESTER, 10],
    [SUBJECT, 26],
    [REASON, 12],
  ]),
  droppable: [SIGNER, EXPIRES, REQUESTER, REQUEST],
  cutFront: new Set([SIGNER, REQUESTER]),
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

/** Requesters control most of this: it must not move the cursor or add a line. */
const cell = (text = ''): string => printable(text).replaceAll(/\s+/g, ' ').trim() || '<none>'

/** To the second; JSON has more. */
const moment = (time: string | undefined): string => cell(time?.replace(/\.\d+Z$/, 'Z'))

function row(entry: LogEntry, isWide: boolean): string[] {
  if (!('request' in entry)) {
    const columns = [moment(entry.time), entry.decision, '', '', '', '', '', entry.reason]
    return isWide ? [...columns, '', '', '', '', entry.hash] : columns
  }
  const {dns, ips, emails, uris} = entry.names
  const columns = [
    moment(entry.time),
    entry.decision,
    cell(entry.signer),
    cell(entry.request),
    cell(entry.requester),
    cell(entry.subject),
    moment(entry.notAfter),
    cell(entry.reason),
  ]
  const names = cell([...dns, ...ips, ...emails, ...uris].join(','))
  return isWide
    ? [
        ...columns,
        names,
        cell(entry.issuer),
        cell(entry.serial),
        cell(entry.fingerprint),
        entry.hash,
      ]
    : columns
}

const verdict = ({file, count, authenticated}: IssuanceReport): string => {
  const lines = `${count} ${count === 1 ? 'line' : 'lines'}`
  const key = authenticated ? ' and written with the key of the log' : ''
  return paragraph(`${file}: `, `${lines}, the chain is unbroken${key}`, columnsOf(process.stdout))
}

export const issuancesView = (isWide: boolean): View<IssuanceReport> => ({
  table: (report) =>
    report.entries
      ? formatColumns(
          isWide ? [...COLUMNS, ...WIDE_COLUMNS] : COLUMNS,
          report.entries.map((entry) => row(entry, isWide)),
          isWide ? AS_WIDE_AS_NEEDED : NARROWING,
        )
      : `${verdict(report)}head ${report.head}\n`,
  name: ({head, entries}) =>
    entries?.flatMap((entry) => ('request' in entry ? [cell(entry.request)] : [])) ?? [head],
})
