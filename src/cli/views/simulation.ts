import type {SimulatedWay, Simulation} from '../../control-plane/requests/simulate.ts'
import {colours} from '../colours.ts'
import type {View} from '../output.ts'
import {formatOpinions} from './requests-show.ts'
import {shown, shownValue} from './requests-text.ts'

const OUTCOMES: Record<SimulatedWay['outcome'], string> = {
  approved: 'would get a certificate at once',
  held: 'would wait for a person',
  refused: 'would be refused',
}

function wayText(
  {by, requester, outcome, problems, approvers}: SimulatedWay,
  node: string,
): string {
  const {bold} = colours(process.stdout)
  const head = bold(`With ${shown(by)}, node "${shown(node)}" ${OUTCOMES[outcome]}`)
  const reasons = problems.map((problem) => `  ✖ ${shown(problem)}\n`).join('')
  return `${head}\n  as ${shownValue(requester)}\n${reasons}${formatOpinions(approvers)}`
}

/** What would happen, way by way and rule by rule. */
export const simulationView: View<Simulation> = {
  table: ({node, ways}) => ways.map((way) => wayText(way, node)).join('\n'),
  name: ({ways}) => ways.filter(({outcome}) => outcome === 'approved').map(({by}) => shown(by)),
}
