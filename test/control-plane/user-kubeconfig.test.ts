import assert from 'node:assert/strict'
import {join} from 'node:path'
import {listIssuances} from '../../src/control-plane/issuances.ts'
import {readIssuedClients} from '../../src/control-plane/issued-clients.ts'
import {certificateOfLine} from '../../src/control-plane/revocation/known-certificates.ts'
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

  it('is named by a line of the issuance log, but not for a control plane of kubeadm', async () => {
    const {plane} = fixture.context
    const log = join(plane.dir, 'logs', 'issuance.log')
    const warn = (line: string) => {
      throw new Error(line)
    }
    await make('lin', 'developers')
    const {entries} = await listIssuances(log, warn)
    const certificate = entries.flatMap(certificateOfLine).find(({user}) => user === 'lin')
    assert.match(certificate?.pin ?? '', /^sha256:/)
    assert.match(certificate?.serial ?? '', /^[0-9a-f]+$/)
    assert.equal(certificate?.request, undefined)
    // A rotation of its CA names it.
    const issued = await readIssuedClients(plane, systemClock, warn)
    const {serial} = issued.certificates.find(({user}) => user === 'lin') ?? assert.fail()
    assert.equal(serial, certificate?.serial)
    await userKubeconfig(plane, {name: 'x', groups: [], isKubeadm: true}, systemClock)
    assert.equal((await listIssuances(log, warn)).count, entries.length)
  })

  it('warns of the group that RBAC has no say over', () => {
    assert.match(warningsFor({groups: ['a', 'system:masters']}).join(), /regardless of RBAC/)
    assert.deepEqual(warningsFor({groups: ['developers']}), [])
  })
})
