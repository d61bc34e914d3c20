import {backUp} from '../../src/control-plane/backup/backup.ts'
import {restore} from '../../src/control-plane/backup/restore.ts'
import {systemClock} from '../../src/runtime.ts'
import {killAtStep} from '../helpers/kill-at-step.ts'

/**
 * Backs up or restores, and is killed right before its n-th step. Prints how many steps there were if it is not. With the servers and
 * the prefix of an etcd, the objects go there; with "-" for them, to the folder.
 */
const [work = '', file = '', dir = '', killAt = '0', servers = '', prefix = ''] =
  process.argv.slice(2)
const options = {clock: systemClock, force: servers === ''}
const choices = {etcdServers: [servers], etcdPrefix: prefix}
const stepsDone = killAtStep(Number(killAt))
if (work === 'backup') await backUp(dir, file, options)
else if (servers === '') await restore(file, dir, options)
else if (servers === '-') await restore(file, dir, {...options, to: 'embedded'})
else await restore(file, dir, {...options, to: 'etcd', choices})
process.stdout.write(String(stepsDone()))
