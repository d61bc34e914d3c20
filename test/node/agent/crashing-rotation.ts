import {openAgent} from '../../../src/node/agent/agent.ts'
import {attendOnce} from '../../../src/node/agent/duties.ts'
import {openNodeHome} from '../../../src/node/agent/node-home.ts'
import {DEFAULT_WINDOW} from '../../../src/node/certificate-manager/rotation-deadline.ts'
import {systemClock} from '../../../src/runtime.ts'
import {killAtStep} from '../../helpers/kill-at-step.ts'

/** Renews, and is killed right before its n-th step. Arguments: the folder of the node, and n. Tells how many steps there were. */
const [dir = '', killAt = '0'] = process.argv.slice(2)
const {signal} = new AbortController()
const steps = killAtStep(Number(killAt))
const agent = await openAgent({
  home: await openNodeHome(dir),
  window: DEFAULT_WINDOW,
  rotatesClient: true,
  serving: false,
  bootstrap: () => Promise.resolve(undefined),
  clock: systemClock,
  random: Math.random,
  log: () => undefined,
})
await agent.renew(signal)
await attendOnce(agent.duties, systemClock, signal)
await agent.close()
process.stdout.write(String(steps()))
