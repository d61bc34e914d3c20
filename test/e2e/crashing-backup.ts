import {backUpPlane} from '../../src/control-plane/backup/backup.ts'
import {restoreStore} from '../../src/control-plane/backup/restore-snapshot.ts'
import {restorePlane} from '../../src/control-plane/backup/restore.ts'
import {systemClock} from '../../src/runtime.ts'
import {killAtStep} from '../helpers/kill-at-step.ts'

/** Backs up or restores, and is killed right before its n-th step. Prints how many steps there were if it is not. */
const [work = '', file = '', dir = '', killAt = '0'] = process.argv.slice(2)
const options = {clock: systemClock, force: true}
const stepsDone = killAtStep(Number(killAt))
if (work === 'backup') await backUpPlane(dir, file, options)
if (work === 'restore') await restorePlane(file, dir, options)
if (work === 'restore-store') await restoreStore(file, dir, options)
process.stdout.write(String(stepsDone()))
