import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import type {JoinSettings} from '../../../src/node/join/phase.ts'
import {systemClock} from '../../../src/runtime.ts'
import {killAtStep} from '../../helpers/kill-at-step.ts'

/** Joins, and is killed right before its n-th step. Arguments: the settings as JSON, and n. Tells how many steps there were. */
const [settings = '{}', killAt = '0'] = process.argv.slice(2)
const silent = () => undefined
const steps = killAtStep(Number(killAt))
await runJoin(
  {
    settings: JSON.parse(settings) as JoinSettings,
    clock: systemClock,
    tell: silent,
    note: silent,
    warn: silent,
    environment: {},
  },
  joinPhases(),
)
process.stdout.write(String(steps()))
