import type {Attack} from '../attack.ts'
import {inTurn, nodePath, STRATEGIC} from './bodies.ts'

const text = (size: number, number: number) => String(number).padEnd(size, 'x')
const STATES: ((number: number) => object)[] = [
  (number) => ({
    images: Array.from({length: 3000}, (_, n) => ({names: [text(300, number * n)], sizeBytes: n})),
  }),
  (number) => ({conditions: [{type: 'Ready', status: 'True', message: text(900_000, number)}]}),
  (number) => ({volumesInUse: Array.from({length: 20_000}, (_, n) => `volume-${number}-${n}`)}),
  (number) => ({
    addresses: Array.from({length: 10_000}, (_, n) => ({
      type: 'Hostname',
      address: `h-${number}-${n}`,
    })),
  }),
  (number) => ({
    capacity: Object.fromEntries(
      Array.from({length: 20_000}, (_, n) => [`example.com/r${n}`, `${number}`]),
    ),
  }),
]

/** A node's report of itself, as large as it may be and often. */
export const nodeStatus: Attack = {
  name: 'node-status',
  aim: 'large reports of nodes about themselves',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 10, atOnce: 3}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const body = JSON.stringify({status: inTurn(STATES, number)(number)})
      return shoot(node, {method: 'PATCH', path: `${nodePath(node)}/status`, body, type: STRATEGIC})
    }),
}
