import type {Node} from '../../api/node.ts'
import {trustReportOf, type ReportedCertificate} from '../../node/trust-report.ts'
import {CLIENT_CA, CLUSTER_CA, KUBELET_CA} from '../certificates.ts'
import type {Which} from './generations.ts'
import {partsOf} from './generation-parts.ts'
import type {Journal, UnitRecord} from './journal.ts'

const other = (which: Which): Which => (which === 'old' ? 'new' : 'old')

/**
 * Whether a certificate that a node reports is of a generation. What cannot be told counts as of the old one, so that nobody is
 * locked out: trustadm's own CAs always name their key in what they sign, so that the new one can be told.
 */
function isOf(on: Which, {issuerKeyId}: ReportedCertificate, unit: UnitRecord): boolean {
  const isNew = Boolean(issuerKeyId) && issuerKeyId === unit.new.keyId
  if (on === 'new') return isNew
  const {keyIds} = partsOf([unit], unit.id, 'old')
  return !issuerKeyId || keyIds.has(issuerKeyId) || (!unit.old.keyId && !isNew)
}

/** Why a node would be cut off if a generation of the CAs were not trusted any more, by what it reports. */
export function nodeReasons(
  {units}: Pick<Journal, 'units'>,
  node: Node,
  on: Which,
  now: Date,
): string[] {
  const find = (id: string) => units.find((unit) => unit.id === id)
  const [servers, clients, kubelets] = [CLUSTER_CA, CLIENT_CA, 'kubelet-serving-ca'].map(find)
  const callers = find(KUBELET_CA)
  if (!servers && !clients && !kubelets && !callers) return []
  const report = trustReportOf(node)
  if (!report) return ['does not report what it trusts: "trustadm node run" is not running there']
  const reasons: string[] = []
  if (servers && !report.trusts.some((pin) => pin === servers[other(on)].pin)) {
    reasons.push(`does not trust the ${other(on)} CA of the API server yet`)
  }
  if (callers && !report.kubeletClients?.some((pin) => pin === callers[other(on)].pin)) {
    reasons.push(`its kubelet does not accept the ${other(on)} CA of those who call kubelets yet`)
  }
  if (clients && isOf(on, report.client, clients)) {
    const isOver = Date.parse(report.client.notAfter) <= now.getTime()
    reasons.push(`its ${isOver ? 'expired ' : ''}certificate is from the ${on} CA`)
  }
  if (kubelets && report.serving && isOf(on, report.serving, kubelets)) {
    reasons.push(`its serving certificate is from the ${on} CA`)
  }
  return reasons
}
