import type {Attack} from '../attack.ts'
import {CSRS, inTurn, many, MERGE, nodePath, requestFor} from './bodies.ts'

const MAPS = [
  many(100_000, 'x'),
  many(5000, 'x'.repeat(63), 'a-long-name-of-a-label-'),
  many(2, 'x'.repeat(1_000_000)),
  {['x'.repeat(1_000_000)]: 'x'},
  many(50_000, '-not-a-label-'),
]

/** Maps of labels and annotations as large as they come, good and bad ones. */
export const labels: Attack = {
  name: 'labels',
  aim: 'labels and annotations by the hundred thousand',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 4, atOnce: 2}, async (number) => {
      const field = number % 2 === 0 ? 'labels' : 'annotations'
      const metadata = {[field]: inTurn(MAPS, number >> 1)}
      const node = inTurn(holdings.nodes, number)
      if (number % 4 < 2) {
        const body = JSON.stringify({metadata})
        return shoot(node, {method: 'PATCH', path: nodePath(node), body, type: MERGE})
      }
      const request = await requestFor('labels')
      const body = JSON.stringify({...request, metadata: {...request.metadata, ...metadata}})
      return shoot(holdings.bootstrap, {method: 'POST', path: CSRS, body})
    }),
}
