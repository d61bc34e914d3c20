import type {Attack} from '../attack.ts'
import {CSRS, inTurn, requestFor} from './bodies.ts'

const owner = (number: number) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: `owner-${number}`,
  uid: `uid-${number}`,
  controller: true,
})
const nameless = (number: number) => ({apiVersion: '', kind: '', name: '', uid: '', number})
const LISTS = [
  Array.from({length: 7000}, (_, number) => owner(number)),
  Array.from({length: 20_000}, (_, number) => nameless(number)),
  Array.from({length: 7000}, () => owner(0)),
]

/** Many owners that all control: each contradicts all the others. */
export const owners: Attack = {
  name: 'owners',
  aim: 'errors that repeat a list of thousands of owners',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 4, atOnce: 2}, async (number) => {
      const request = await requestFor('owners')
      const metadata = {...request.metadata, ownerReferences: inTurn(LISTS, number)}
      const body = JSON.stringify({...request, metadata})
      return shoot(holdings.bootstrap, {method: 'POST', path: CSRS, body})
    }),
}
