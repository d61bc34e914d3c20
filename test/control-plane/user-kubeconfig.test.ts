import assert from 'node:assert/strict'
import {userKubeconfig, warningsFor} from '../../src/control-plane/user-kubeconfig.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

describe('userKubeconfig', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
  })
  after(() => fixture.remove())

  const make = (name: string, ...groups: string[]) =>
    userKubeconfig(fixture.context.plane, {name, groups}, systemClock)

  for (const name of ['', ' ann', 'ann\nroot', 'ann\u0000']) {
    it(`refuses the user ${JSON.stringify(name)}`, async () => {
      await assert.rejects(make(name), {code: 'USAGE'})
    })

    it(`refuses the group ${JSON.stringify(name)}`, async () => {
      await assert.rejects(make('ann', 'developers', name), {code: 'USAGE'})
    })
  }

  it('takes names that only look odd', async () => {
    assert.match(await make('ann,o=x äö', 'system:nodes'), /client-certificate-data/)
  })

  it('warns of the group that RBAC has no say over', () => {
    assert.match(warningsFor({groups: ['a', 'system:masters']}).join(), /regardless of RBAC/)
    assert.deepEqual(warningsFor({groups: ['developers']}), [])
  })
})
