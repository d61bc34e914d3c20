import {sleep} from '../../src/runtime.ts'
import type {Attack} from '../attack.ts'
import {CSRS, inTurn, requestFor} from './bodies.ts'

const SEEN_AFTER = 1000

/** Asks for the names of nodes that somebody else has set up. */
export const rejoins: Attack = {
  name: 'rejoins',
  aim: 'certificates of nodes that are there, by another key',
  run: ({holdings, shoot, flood, signal, breach}) =>
    flood({perSecond: 8, atOnce: 8}, async (number) => {
      const victim = inTurn(holdings.victims, number)
      const request = await requestFor(victim)
      const body = JSON.stringify(request)
      const asked = await shoot(holdings.bootstrap, {method: 'POST', path: CSRS, body})
      if (asked.status !== 201) return
      await sleep(SEEN_AFTER, signal)
      const path = `${CSRS}/${request.metadata.name}`
      const {text} = await shoot(holdings.bootstrap, {path})
      if (text.includes('"certificate":')) breach(`a token's holder became the node ${victim}`)
    }),
}
