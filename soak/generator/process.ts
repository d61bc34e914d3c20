import {setMaxListeners} from 'node:events'
import {writeFileSync} from 'node:fs'
import {constants, setPriority} from 'node:os'
import {attackNamed} from '../attacks/index.ts'
import {Caller} from './caller.ts'
import {createField} from './field.ts'
import {READY, type Orders} from './orders.ts'
import {Tally} from './tally.ts'

const TELL_EVERY = 500

// The server and the honest clients come first: they are what is measured.
setPriority(constants.priority.PRIORITY_LOW)
try {
  writeFileSync('/proc/self/autogroup', String(constants.priority.PRIORITY_LOW))
} catch {
  // Where there are no sessions with a priority, that of the process counts.
}

process.once('message', (orders: Orders) => {
  const prepared = orders.attacks.map(async (name) => attackNamed(name).prepare?.())
  // One that could not be prepared says itself that it has nothing to work with.
  void Promise.allSettled(prepared).then(() => {
    process.once('message', () => start(orders))
    process.send?.(READY)
  })
})

function start({holdings, attacks}: Orders): void {
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  const caller = new Caller(holdings)
  const tallies = new Map(attacks.map((name) => [name, new Tally()]))
  const tell = () =>
    process.send?.(Object.fromEntries([...tallies].map(([name, {counts}]) => [name, counts])))
  const running = [...tallies].map(async ([name, tally]) => {
    try {
      await attackNamed(name).run(createField(holdings, caller, tally, end.signal))
    } catch (error) {
      if (!end.signal.aborted) tally.breach(`the attack itself failed: ${String(error)}`)
    }
  })
  const timer = setInterval(tell, TELL_EVERY)
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
}

// An attack may break what it likes, itself included; it is counted elsewhere.
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
process.on('disconnect', () => process.exit())
