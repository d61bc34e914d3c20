import type {CertificateReport, ExpirationReport} from '../../control-plane/expiration.ts'
import {fit, lineOf, widthsOf, type Row} from '../columns.ts'
import {colours} from '../colours.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {lastRotationText} from './ca-rotation.ts'
import {moment, residual} from './human-time.ts'
import {moment as toSecond} from './obtained.ts'

const LEFT = 'LEFT'

function left({current, residualSeconds}: CertificateReport): string {
  if (current !== false) return residual(residualSeconds)
  return (residualSeconds ?? 0) < 0 ? 'expired' : 'not yet'
}

/** A table whose column LEFT is red for what is out of date, and yellow for what has a problem or a warning. */
function table<Report extends CertificateReport>(
  head: Row,
  reports: readonly Report[],
  rowOf: (report: Report) => Row,
): string {
  const {red, yellow} = colours(process.stdout)
  const rows = reports.map(rowOf)
  const widths = fit(widthsOf([head, ...rows]), columnsOf(process.stdout), {
    least: new Map([[0, 12]]),
    droppable: [head.length - 1],
  })
  const lines = reports.map((report, index) => {
    const {current, problems, warnings} = report
    const isNoticed = problems.length + warnings.length > 0
    const paint = current === false ? red : isNoticed ? yellow : (text: string) => text
    return lineOf(rows[index] ?? [], widths, {
      paint: (cell, column) => (head[column] === LEFT ? paint(cell) : cell),
    })
  })
  return [lineOf(head, widths), ...lines].join('')
}

/** A sentence for each problem and each warning, wrapped. */
function noticesOf(reports: readonly CertificateReport[]): string {
  const columns = columnsOf(process.stdout)
  const {red, yellow} = colours(process.stdout)
  const lines = reports.flatMap(({name, problems, warnings}) => [
    ...problems.map((one) => paragraph(red('! '), `${name}: ${one}`, columns)),
    ...warnings.map((one) => paragraph(yellow('! '), `${name}: ${one}`, columns)),
  ])
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

/** Only the key that signs may be here. */
const keyOf = ({
  signs,
  externallyManaged,
}: ExpirationReport['certificateAuthorities'][number]): string =>
  signs ? (externallyManaged ? 'external' : 'here') : ''

const MOST_NAMES = 10

function rotationOf({rotation}: ExpirationReport): string {
  if (!rotation) return ''
  const {phase, lastInitiation, stillTrustedBy = []} = rotation
  const last = lastRotationText(rotation)
  const isRunning = phase === 'Prepare' || phase === 'Finalize'
  const running = isRunning ? `in phase ${phase} since ${toSecond(lastInitiation)}, ` : ''
  const columns = columnsOf(process.stdout)
  const trusting = stillTrustedBy.slice(0, MOST_NAMES).join(', ')
  const more = stillTrustedBy.length - MOST_NAMES
  const names = more > 0 ? `${trusting} and ${more} more` : trusting
  const old =
    names === ''
      ? ''
      : paragraph(
          '',
          `These nodes still trust the old CA: ${names}. See "ca rotate status".`,
          columns,
        )
  return `\n${paragraph('', `Rotation of the CAs: ${running}${last}`, columns)}${old}`
}

/** kubeadm's two tables, in 80 columns, and below them what is wrong or will be. */
export function formatExpiration(report: ExpirationReport): string {
  const {certificates, certificateAuthorities} = report
  const leaves = table(['CERTIFICATE', 'EXPIRES', LEFT, 'CA'], certificates, (one) => [
    one.name,
    moment(one.expirationDate),
    left(one),
    one.certificateAuthority,
  ])
  const authorities = table(
    ['CA', 'EXPIRES', LEFT, 'USE', 'KEY'],
    certificateAuthorities,
    (one) => [
      one.name,
      moment(one.expirationDate),
      left(one),
      one.signs ? 'signs' : 'trusted',
      keyOf(one),
    ],
  )
  const notices = noticesOf([...certificateAuthorities, ...certificates])
  return `${leaves}\n${authorities}${rotationOf(report)}${notices}`
}

export const expirationView: View<ExpirationReport> = {
  table: formatExpiration,
  name: ({certificates, certificateAuthorities}) => [
    ...new Set([...certificates, ...certificateAuthorities].map(({name}) => name)),
  ],
}
