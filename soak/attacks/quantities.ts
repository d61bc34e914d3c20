import type {Attack} from '../attack.ts'
import {inTurn, MERGE, nodePath} from './bodies.ts'

const DIGITS = '9'.repeat(200_000)
const QUANTITIES = [
  DIGITS,
  `${DIGITS}.${DIGITS}`,
  `0.${'0'.repeat(200_000)}1`,
  `1e${DIGITS}`,
  `${' '.repeat(200_000)}1`,
  `-${DIGITS}Ei`,
  `${DIGITS}x`,
]

/** Numbers as long as a body allows. */
export const quantities: Attack = {
  name: 'quantities',
  aim: 'long numbers as quantities of a node',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 4, atOnce: 2}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const capacity = {cpu: inTurn(QUANTITIES, number)}
      const body = JSON.stringify({status: {capacity, allocatable: capacity}})
      return shoot(node, {method: 'PATCH', path: `${nodePath(node)}/status`, body, type: MERGE})
    }),
}
