import {connectAsAdmin} from '../../src/control-plane/admin.ts'
import {rotate} from '../../src/control-plane/ca-rotation/rotate.ts'
import type {Action} from '../../src/control-plane/ca-rotation/journal.ts'
import type {Step} from '../../src/control-plane/ca-rotation/steps.ts'
import {loadPlane} from '../../src/control-plane/config/stored.ts'
import {systemClock} from '../../src/runtime.ts'
import {cutPower} from '../helpers/power-cut.ts'
import {killAtStep} from '../helpers/kill-at-step.ts'

/**
 * Rotates, and is killed right before its n-th change or request; or kills the server when the first of some steps begins, and prints
 * which one that was. Arguments: the folder of the control plane, the action, and n or the ids of the steps.
 */
const [dir = '', action = 'start', where = '0'] = process.argv.slice(2)
const silent = () => undefined
if (/^\d+$/.test(where)) killAtStep(Number(where))
let isKilled = false
const begin = ({id}: Step) => {
  if (isKilled || !where.split(',').includes(id)) return
  isKilled = true
  process.stdout.write(`${id}\n`)
  cutPower(dir)
}
const {journal} = await rotate(
  {
    plane: await loadPlane(dir),
    clock: systemClock,
    tell: silent,
    warn: silent,
    connect: connectAsAdmin,
    // Old copies of what was replaced are what the test itself uses.
    ignored: action === 'complete' ? ['replaced-here', 'kubernetes-admin'] : [],
  },
  action as Action,
  {wait: false, observer: {begin, end: silent, waiting: silent}},
)
process.stdout.write(journal.phase ?? 'none')
