import {printable} from '../../client/printable.ts'
import type {
  IssuanceList,
  NewestHead,
  VerifiedAlone,
  VerifiedLog,
  VerifiedLogs,
} from '../../control-plane/issuances.ts'
import type {KnownHead, LogEntry} from '../../controllers/signing/log-line.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {NODE_SUBJECT} from './requests-text.ts'

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
  common: new Map([[SUBJECT, NODE_SUBJECT]]),
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

export const issuancesView = (isWide: boolean): View<IssuanceList> => ({
  table: ({entries}) =>
    formatColumns(
      isWide ? [...COLUMNS, ...WIDE_COLUMNS] : COLUMNS,
      entries.map((entry) => row(entry, isWide)),
      isWide ? AS_WIDE_AS_NEEDED : NARROWING,
    ),
  name: ({entries}) =>
    entries.flatMap((entry) => ('request' in entry ? [cell(entry.request)] : [])),
})

const verdict = ({file, count, head, authenticated}: VerifiedLog): string => {
  const lines = `${count} ${count === 1 ? 'line' : 'lines'}`
  const key = authenticated ? ' and written with the key of the log' : ''
  const text = `${lines}, the chain is unbroken${key}`
  return `${paragraph(`${file}: `, text, columnsOf(process.stdout))}head ${head}\n`
}

const other = ({server, time, hash}: KnownHead): string => {
  const whose = server === undefined ? 'another log' : `a log of ${cell(server)}`
  const when = time === undefined ? '' : `, newest at ${moment(time)}`
  const text = `${whose}${when}, with the line ${hash}`
  return paragraph('not checked: ', text, columnsOf(process.stdout))
}

const logsIn = (result: VerifiedLogs | VerifiedAlone): VerifiedLog[] =>
  'logs' in result ? result.logs : [result]

export const verifiedView: View<VerifiedLogs | VerifiedAlone> = {
  table: (result) => [...logsIn(result).map(verdict), ...result.others.map(other)].join(''),
  name: (result) => logsIn(result).map(({head}) => head),
}

export const headsView: View<{heads: NewestHead[]}> = {
  // A head is longer than most terminals are wide: on a line of its own it can be copied.
  table: ({heads}) => heads.map(({file, head}) => `${cell(file)}:\n${head ?? '<none>'}\n`).join(''),
  name: ({heads}) => heads.flatMap(({head}) => head ?? []),
}
