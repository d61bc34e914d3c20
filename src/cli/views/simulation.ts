import type {SimulatedWay, Simulation} from '../../control-plane/requests/simulate.ts'
import {colours} from '../colours.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {formatOpinions} from './requests-show.ts'
import {shown, shownValue} from './requests-text.ts'

const OUTCOMES: Record<SimulatedWay['outcome'], string> = {
  approved: 'would get a certificate at once',
  held: 'would wait for a person',
  refused: 'would be refused',
}

function wayText(
  {by, requester, outcome, takesOver, problems, approvers}: SimulatedWay,
  node: string,
): string {
  const {bold} = colours(process.stdout)
  const columns = columnsOf(process.stdout)
  const head = paragraph(
    '',
    `With ${shown(by)}, node "${shown(node)}" ${OUTCOMES[outcome]}`,
    columns,
  )
  const who = paragraph('  ', `as ${shownValue(requester)}`, columns, 4)
  const warning =
    takesOver === null
      ? []
      : [
          `it would take over the name of a node (${takesOver}): kube-controller-manager does not check who has a name. After it has happened, "trustadm node list" names it for an hour, and "trustadm node history ${node}" shows the request`,
        ]
  const reasons = [...problems, ...warning]
    .map((problem) => paragraph('  ✖ ', shown(problem), columns, 4))
    .join('')
  return `${bold(head.trimEnd())}\n${who}${reasons}${formatOpinions(approvers)}`
}

/** What would happen, way by way and rule by rule. */
export const simulationView: View<Simulation> = {
  table: ({node, ways}) => ways.map((way) => wayText(way, node)).join('\n'),
  name: ({ways}) => ways.filter(({outcome}) => outcome === 'approved').map(({by}) => shown(by)),
}
