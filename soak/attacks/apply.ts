import type {Attack} from '../attack.ts'
import {APPLY, freshName, inTurn, nodePath} from './bodies.ts'

const KEYS = 2000

/** Every manager that applies is remembered in the object, with all its fields. */
export const apply: Attack = {
  name: 'apply',
  aim: 'field managers without number on one node',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 10, atOnce: 3}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const annotations = Object.fromEntries(
        Array.from({length: KEYS}, (_, key) => [`soak/${number % 7}-${key}`, 'x']),
      )
      const body = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {name: node.name, annotations},
      })
      const path = `${nodePath(node)}?fieldManager=${freshName('manager')}&force=true`
      return shoot(node, {method: 'PATCH', path, body, type: APPLY})
    }),
}
