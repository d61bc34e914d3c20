import type {Node} from '../../api/node.ts'
import {trustReportOf} from '../../node/trust-report.ts'
import {CLUSTER_CA} from '../certificates.ts'
import type {Which} from './generations.ts'
import type {Journal} from './journal.ts'

const other = (which: Which): Which => (which === 'old' ? 'new' : 'old')

/** Why a node would be cut off if a generation of the CAs were not trusted any more, by what it reports. */
export function nodeReasons(
  {units}: Pick<Journal, 'units'>,
  node: Node,
  on: Which,
  now: Date,
): string[] {
  const find = (id: string) => units.find((unit) => unit.id === id)
  const [servers, clients, kubelets] = [CLUSTER_CA, 'client-ca', 'kubelet-serving-ca'].map(find)
  if (!servers && !clients && !kubelets) return []
  const report = trustReportOf(node)
  if (!report) return ['does not report what it trusts: "trustadm node run" is not running there']
  const reasons: string[] = []
  if (servers && !report.trusts.some((pin) => pin === servers[other(on)].pin)) {
    reasons.push(`does not trust the ${other(on)} CA of the API server yet`)
  }
  if (clients && report.client.issuerKeyId === clients[on].keyId) {
    const isOver = Date.parse(report.client.notAfter) <= now.getTime()
    reasons.push(`its ${isOver ? 'expired ' : ''}certificate is from the ${on} CA`)
  }
  if (kubelets && report.serving?.issuerKeyId === kubelets[on].keyId) {
    reasons.push(`its serving certificate is from the ${on} CA`)
  }
  return reasons
}
