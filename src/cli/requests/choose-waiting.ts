import type {WaitingRequest} from '../../control-plane/requests/rejoin-candidates.ts'
import {ageOf} from '../../server/table/human-duration.ts'
import type {Choice} from '../prompt.ts'
import {shown, shownValue} from '../views/requests-text.ts'

const NONE = ''
/** Only the newest are shown: the operator's machine has sent its request just now. */
const MOST_SHOWN = 20

type Choose = (question: string, choices: readonly Choice<string>[]) => Promise<string>

function line({name, created, requester, address, pin}: WaitingRequest, now: Date): string {
  const from = address === null ? '' : ` from ${address}`
  return `${pin}, requested ${ageOf(created, now)} ago by ${shownValue(requester)}${from} (${shown(name)})`
}

/** Lets a person choose one of the waiting machines; undefined for none. */
export async function chooseWaiting(
  node: string,
  waiting: readonly WaitingRequest[],
  now: Date,
  choose: Choose,
): Promise<WaitingRequest | undefined> {
  const newest = waiting.slice(-MOST_SHOWN)
  const more = waiting.length - newest.length
  const older = more === 0 ? '' : ` (${more} older ones are not shown)`
  const chosen = await choose(
    `Which key may join as "${node}"? Compare it with what "trustadm join" prints on the machine.${older}`,
    [
      {value: NONE, name: 'none of these'},
      ...newest.map((one) => ({value: one.name, name: line(one, now)})),
    ],
  )
  return newest.find(({name}) => name === chosen)
}
