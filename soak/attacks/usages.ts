import type {Attack} from '../attack.ts'
import {CSRS, inTurn, requestFor} from './bodies.ts'

const LISTS = [
  Array.from({length: 100_000}, (_, number) => `usage ${number}`),
  Array.from({length: 100_000}, () => 'client auth'),
  ['x'.repeat(1_000_000)],
]

/** Lists of usages that no certificate has. */
export const usages: Attack = {
  name: 'usages',
  aim: 'lists of 100,000 usages',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 4, atOnce: 2}, async (number) => {
      const request = await requestFor('usages')
      const spec = {...request.spec, usages: inTurn(LISTS, number)}
      const body = JSON.stringify({...request, spec})
      return shoot(holdings.bootstrap, {method: 'POST', path: CSRS, body})
    }),
}
