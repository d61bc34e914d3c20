import type {HistoryEntry, NodeHistory} from '../../control-plane/nodes/history-entry.ts'
import type {NodeList} from '../../control-plane/nodes/list.ts'
import type {NodeProblem, NodeReport} from '../../control-plane/nodes/report.ts'
import {ageOf} from '../../server/table/human-duration.ts'
import {colours} from '../colours.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, paragraph, type Sized} from '../layout.ts'
import type {View} from '../output.ts'
import {residual} from './human-time.ts'
import {shown, shownValue} from './requests-text.ts'

const COLUMNS = ['NAME', 'STATE', 'EXPIRES', 'RENEWED', 'CAS', 'ISSUER']
const WIDE_COLUMNS = [...COLUMNS, 'SERIAL', 'KNOWN BY', 'REGISTERED', 'PROBLEMS']
const [NAME, STATE, RENEWED, CAS, ISSUER] = [0, 1, 3, 4, 5] as const
const NARROWING: Narrowing = {
  least: new Map([[ISSUER, 10]]),
  droppable: [ISSUER, CAS, RENEWED],
  last: {least: new Map([[NAME, 24]])},
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

const ago = (time: string | null, now: Date): string =>
  time === null ? '<never>' : `${ageOf(time, now)} ago`

function expiry({certificate}: NodeReport, now: Date): string {
  if (!certificate) return '<unknown>'
  const left = (Date.parse(certificate.notAfter) - now.getTime()) / 1000
  return left <= 0 ? '<expired>' : residual(left)
}

const OK = 'ok'
const stateOf = ({problems: [worst]}: NodeReport): string => worst?.code ?? OK

const row = (report: NodeReport, now: Date): string[] => [
  shownValue(report.name),
  stateOf(report),
  expiry(report, now),
  ago(report.lastRenewal, now),
  report.trusts === null ? '<unknown>' : String(report.trusts.length),
  report.certificate?.issuer ? shown(report.certificate.issuer) : '<unknown>',
]

const problems = ({problems: found}: NodeReport): string =>
  found.map(({message}) => shown(message)).join('; ') || '<none>'

const wideRow = (report: NodeReport, now: Date): string[] => [
  ...row(report, now),
  report.certificate?.serial ?? '<unknown>',
  report.certificate?.source ?? '<none>',
  report.registered === null ? '<unknown>' : ago(report.registered, now),
  problems(report),
]

/** A node with one of these can do nothing in the cluster. */
const FATAL: readonly string[] = [
  'revoked',
  'expired',
  'locked-out',
  'not-yet-valid',
] satisfies NodeProblem['code'][]

const severity = (state: string, stream: Sized): ((text: string) => string) => {
  const {green, red, yellow} = colours(stream)
  return state === OK ? green : FATAL.includes(state) ? red : yellow
}

/** Below the table; of thousands of nodes only the worst. */
const MOST_EXPLAINED = 20

function explained(nodes: readonly NodeReport[], stream: Sized): string {
  const troubled = nodes.filter((one) => one.problems.length > 0)
  const lines = troubled.slice(0, MOST_EXPLAINED).map((one) => {
    const mark = severity(stateOf(one), stream)('! ')
    return paragraph(mark, `${shownValue(one.name)}: ${problems(one)}`, columnsOf(stream))
  })
  const left = troubled.length - lines.length
  if (left > 0) lines.push(`and ${left} more: see --output wide\n`)
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

export const nodeListView = (
  isWide: boolean,
  now: Date,
  stream: Sized = process.stdout,
): View<NodeList> => ({
  table({nodes}) {
    const paint = (cell: string, column: number) =>
      column === STATE ? severity(cell.trim(), stream)(cell) : cell
    if (isWide) {
      const rows = nodes.map((one) => wideRow(one, now))
      return formatColumns(WIDE_COLUMNS, rows, AS_WIDE_AS_NEEDED, stream, paint)
    }
    const rows = nodes.map((one) => row(one, now))
    return formatColumns(COLUMNS, rows, NARROWING, stream, paint) + explained(nodes, stream)
  },
  name: ({nodes}) => nodes.map(({name}) => name),
})

/** As wide as the longest of them. */
const WHAT_WIDTH = 'registered'.length

/** A timeline: when, what, and the rest in lines of its own. */
export function formatHistory(
  {entries, waiting}: NodeHistory,
  stream: Sized = process.stdout,
): string {
  const {bold, dim, green, red} = colours(stream)
  const columns = columnsOf(stream)
  const lineOf = ({time, what, message}: HistoryEntry) => {
    const when = time.replace(/\.\d+Z$/, 'Z').padEnd(20)
    const label = what.padEnd(WHAT_WIDTH)
    const painted = ['denied', 'failed', 'revoked'].includes(what) ? red(label) : bold(label)
    return paragraph(`${dim(when)}  ${painted}  `, shown(message), columns, 4)
  }
  const rules = waiting.flatMap(({request, approvers}) => [
    `\n${bold(`${shown(request)} waits`)}\n`,
    ...approvers
      .filter(({decision}) => decision !== 'ignore')
      .flatMap(({approver, rules: verdicts}) =>
        verdicts.map(({rule, holds, reason}) =>
          paragraph(
            `  ${holds ? green('✔') : red('✖')} `,
            `${shown(approver)}: ${shown(rule)}${holds ? '' : `: ${shown(reason)}`}`,
            columns,
            4,
          ),
        ),
      ),
  ])
  return [...entries.map(lineOf), ...rules].join('')
}

export const nodeHistoryView: View<NodeHistory> = {
  table: (history) => formatHistory(history),
  name: ({node}) => [node],
}
