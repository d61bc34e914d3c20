import type {CertificateReport, ExpirationReport} from '../../control-plane/expiration.ts'
import {formatTable} from '../table.ts'
import type {View} from '../output.ts'
import {moment, residual} from './human-time.ts'

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')

function problemsOf(reports: readonly CertificateReport[]): string {
  const lines = reports.flatMap(({name, problems}) => problems.map((one) => `! ${name}: ${one}\n`))
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

/** kubeadm's two tables, and the problems below them. */
export function formatExpiration({certificates, certificateAuthorities}: ExpirationReport): string {
  const leaves = formatTable(
    ['CERTIFICATE', 'EXPIRES', 'RESIDUAL TIME', 'CERTIFICATE AUTHORITY', 'EXTERNALLY MANAGED'],
    certificates.map((one) => [
      one.name,
      moment(one.expirationDate),
      residual(one.residualSeconds),
      one.certificateAuthority,
      yesNo(one.externallyManaged),
    ]),
  )
  const authorities = formatTable(
    ['CERTIFICATE AUTHORITY', 'EXPIRES', 'RESIDUAL TIME', 'EXTERNALLY MANAGED'],
    certificateAuthorities.map((one) => [
      one.name,
      moment(one.expirationDate),
      residual(one.residualSeconds),
      yesNo(one.externallyManaged),
    ]),
  )
  const problems = problemsOf([...certificateAuthorities, ...certificates])
  return `${leaves}\n${authorities}${problems}`
}

export const expirationView: View<ExpirationReport> = {
  table: formatExpiration,
  name: ({certificates, certificateAuthorities}) =>
    [...certificates, ...certificateAuthorities].map(({name}) => name),
}
