import type {RequestReport} from '../../control-plane/requests/show.ts'
import {shown, shownValue} from './requests-text.ts'

type Rule = NonNullable<RequestReport['approvers']>[number]['rules'][number]

const HAVE_ALTERNATIVES: readonly string[] = ['node-name', 'owned-by-node', 'name-kept']

/** Show the alternative that matched; a plain pass needs no detail. */
export function ruleText({code, rule, holds, reason}: Rule): string {
  if (!holds) return `${shown(rule)}: ${shown(reason)}`
  return HAVE_ALTERNATIVES.includes(code) ? shown(reason) : shown(rule)
}

/** A certificate of a cluster administrator must not be approved by mistake. */
export function adminWarning({adminRights}: RequestReport): string | undefined {
  if (!adminRights || adminRights.length === 0) return undefined
  const who = adminRights.map(({kind, name}) => `the ${kind} ${shownValue(name)}`).join(', ')
  const may = adminRights.length === 1 ? 'has' : 'have'
  return `${who} ${may} cluster-admin rights: whoever gets this certificate can do everything in the cluster`
}

/** Everything that speaks against approving a request: for the question itself, after which it is too late. */
export function reservations(report: RequestReport): string[] {
  const warning = adminWarning(report)
  const failed = (report.approvers ?? [])
    .filter(({decision}) => decision === 'hold' || decision === 'deny')
    .flatMap(({approver, rules}) =>
      rules.filter(({holds}) => !holds).map((rule) => `${shown(approver)}: ${ruleText(rule)}`),
    )
  return [
    ...(warning === undefined ? [] : [warning]),
    ...failed,
    ...(report.signerProblems ?? []).map((one) => `${shown(report.signer)}: ${shown(one)}`),
    ...report.problems.map(shown),
  ]
}
