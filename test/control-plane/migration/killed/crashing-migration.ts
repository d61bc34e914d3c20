import {migrateStore, type StoreKind} from '../../../../src/control-plane/migration/migrate.ts'
import {systemClock} from '../../../../src/runtime.ts'
import {killAtStep} from '../../../helpers/kill-at-step.ts'

/** Migrates, and is killed right before its n-th step. Prints how many steps there were if it is not. */
const [dir = '', from = '', to = '', servers = '', prefix = '', killAt = '0'] =
  process.argv.slice(2)
const stepsDone = killAtStep(Number(killAt))
await migrateStore(dir, {
  from: from as StoreKind,
  to: to as StoreKind,
  choices: {etcdServers: [servers], etcdPrefix: prefix},
  clock: systemClock,
  tell: () => undefined,
})
process.stdout.write(String(stepsDone()))
