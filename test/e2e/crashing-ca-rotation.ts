import {connectAsAdmin} from '../../src/control-plane/admin.ts'
import {rotate} from '../../src/control-plane/ca-rotation/rotate.ts'
import type {Action} from '../../src/control-plane/ca-rotation/journal.ts'
import {loadPlane} from '../../src/control-plane/config/stored.ts'
import {systemClock} from '../../src/runtime.ts'
import {killAtStep} from '../helpers/kill-at-step.ts'

/** Rotates, and is killed right before its n-th step. Arguments: the folder of the control plane, the action, and n. */
const [dir = '', action = 'start', killAt = '0'] = process.argv.slice(2)
const silent = () => undefined
killAtStep(Number(killAt))
const {journal} = await rotate(
  {
    plane: await loadPlane(dir),
    clock: systemClock,
    tell: silent,
    warn: silent,
    connect: connectAsAdmin,
  },
  action as Action,
  {wait: false, observer: {begin: silent, end: silent, waiting: silent}},
)
process.stdout.write(journal.phase ?? 'none')
