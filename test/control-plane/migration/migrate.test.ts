import assert from 'node:assert/strict'
import {holdStore} from '../../../src/control-plane/hold-store.ts'
import {migrateStore} from '../../../src/control-plane/migration/migrate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {MigratingPlane} from './support.ts'

describe('store migrate of a control plane that is in use', () => {
  let made: MigratingPlane
  let release: () => Promise<void>
  before(async () => {
    made = await MigratingPlane.create([], '/test', 1)
    release = await holdStore(made.dir)
  })
  after(async () => {
    await release()
    await made.remove()
  })

  const migrate = (from: 'embedded' | 'etcd', to: 'embedded' | 'etcd') =>
    migrateStore(made.dir, {from, to, choices: {}, clock: systemClock, tell: () => undefined})

  it('asks for the servers of etcd before anybody stops a server for it', async () => {
    await assert.rejects(migrate('embedded', 'etcd'), {
      code: 'USAGE',
      suggestions: ['name them with --etcd-servers'],
    })
  })

  it('says before that if there is nothing to do', async () => {
    await assert.rejects(migrate('etcd', 'embedded'), {
      message: 'this control plane has the embedded store already',
    })
  })
})
