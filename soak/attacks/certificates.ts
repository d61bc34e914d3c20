import type {Attack} from '../attack.ts'
import {CSRS, freshName, inTurn, requestFor} from './bodies.ts'

/** Good requests, each for a name of its own; and nodes that renew all the time. */
export const certificates: Attack = {
  name: 'certificates',
  aim: 'certificates without number, by a token and by nodes',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 60, atOnce: 8}, async (number) => {
      const isRenewal = number % 3 === 0
      const identity = isRenewal ? inTurn(holdings.nodes, number / 3) : holdings.bootstrap
      const name = isRenewal ? identity.name : freshName('made-up')
      const body = JSON.stringify(await requestFor(name))
      return shoot(identity, {method: 'POST', path: CSRS, body})
    }),
}
