import type {Attack} from '../attack.ts'
import {freshName, inTurn} from './bodies.ts'

const PATH = '/api/v1/namespaces/default/events'
const SIZES = [100, 1000, 10_000, 900_000]

/** Events are never deleted by whoever makes them. */
export const events: Attack = {
  name: 'events',
  aim: 'Events without number, small and large, of nodes',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 60, atOnce: 6}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const size = number % 20 === 0 ? inTurn(SIZES, number / 20) : 200
      const event = {
        metadata: {
          name: freshName('event'),
          namespace: 'default',
          annotations: {text: 'x'.repeat(size)},
        },
        involvedObject: {kind: 'Node', name: node.name},
        reason: 'Soak',
        message: 'x'.repeat(1000),
        source: {component: 'kubelet', host: node.name},
        type: 'Normal',
      }
      return shoot(node, {method: 'POST', path: PATH, body: JSON.stringify(event)})
    }),
}
