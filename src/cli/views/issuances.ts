import {printable} from '../../client/printable.ts'
import type {IssuanceReport} from '../../control-plane/issuances.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import type {View} from '../output.ts'
import {formatTable} from '../table.ts'

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
const WIDE_COLUMNS = ['NAMES', 'SERIAL', 'FINGERPRINT', 'HASH']
const KIND = 'certificatesigningrequest.certificates.k8s.io'

/** Requesters choose most of this: it must not move the cursor or make a second line. */
const cell = (text = ''): string => printable(text).replaceAll(/\s+/g, ' ').trim() || '<none>'

function row(entry: LogEntry, isWide: boolean): string[] {
  if (entry.decision === 'recovered') {
    const columns = [entry.time, entry.decision, '', '', '', '', '', entry.reason]
    return isWide ? [...columns, '', '', '', entry.hash] : columns
  }
  const {dns, ips, emails, uris} = entry.names
  const columns = [
    entry.time,
    entry.decision,
    cell(entry.signer),
    cell(entry.request),
    cell(entry.requester),
    cell(entry.subject),
    cell(entry.notAfter),
    cell(entry.reason),
  ]
  const names = cell([...dns, ...ips, ...emails, ...uris].join(','))
  return isWide
    ? [...columns, names, cell(entry.serial), cell(entry.fingerprint), entry.hash]
    : columns
}

export const issuancesView = (isWide: boolean): View<IssuanceReport> => ({
  table: ({file, count, head, entries}) =>
    entries
      ? formatTable(
          isWide ? [...COLUMNS, ...WIDE_COLUMNS] : COLUMNS,
          entries.map((entry) => row(entry, isWide)),
        )
      : `${file}: ${count} lines, the chain is unbroken\nhead ${head}\n`,
  name: ({head, entries}) =>
    entries?.flatMap((entry) => ('request' in entry ? [`${KIND}/${cell(entry.request)}`] : [])) ?? [
      head,
    ],
})
