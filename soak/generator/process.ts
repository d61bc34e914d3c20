import {setMaxListeners} from 'node:events'
import {constants, setPriority} from 'node:os'
import type {Holdings} from '../attack.ts'
import {attackNamed} from '../attacks/index.ts'
import {Caller} from './caller.ts'
import {createField} from './field.ts'
import {Tally, type TallyCounts} from './tally.ts'

/** The first message to this process, and what it tells from then on. */
export interface Orders {
  holdings: Holdings
  attacks: string[]
}
export type Dispatch = Record<string, TallyCounts>

const TELL_EVERY = 500

// The server and the honest clients come first: they are what is measured.
setPriority(constants.priority.PRIORITY_LOW)

process.once('message', ({holdings, attacks}: Orders) => {
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  const caller = new Caller(holdings)
  const tallies = new Map(attacks.map((name) => [name, new Tally()]))
  const tell = () =>
    process.send?.(Object.fromEntries([...tallies].map(([name, {counts}]) => [name, counts])))
  // Without it the attack says itself that it has nothing to work with.
  const prepared = Promise.allSettled(attacks.map(async (name) => attackNamed(name).prepare?.()))
  const running = [...tallies].map(async ([name, tally]) => {
    try {
      await prepared
      await attackNamed(name).run(createField(holdings, caller, tally, end.signal))
    } catch (error) {
      if (!end.signal.aborted) tally.breach(`the attack itself failed: ${String(error)}`)
    }
  })
  let timer: NodeJS.Timeout | undefined
  void prepared.then(() => (timer = setInterval(tell, TELL_EVERY)))
  process.once('message', () => {
    end.abort()
    void Promise.all(running)
      .then(() => caller.close())
      .finally(() => {
        clearInterval(timer)
        tell()
        process.disconnect()
      })
  })
})

// An attack may break what it likes, itself included; it is counted elsewhere.
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
process.on('disconnect', () => process.exit())
