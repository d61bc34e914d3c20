import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {runHooks} from '../../../src/control-plane/ca-rotation/hooks.ts'
import {unitFor} from '../../../src/control-plane/ca-rotation/units.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('the commands of added CAs', () => {
  let fixture: PlaneFixture
  const tell = () => undefined
  const run = (onChange: string) => {
    const {plane} = fixture.context
    const authorities = [{name: 'a-ca', signs: 'clients' as const, onChange}]
    const settled = {...plane, settings: {...plane.settings, authorities}}
    const units = ['ca', 'a-ca', 'sa'].map((id) => unitFor(settled, {id}))
    return runHooks(settled, units, {step: 'servers-trust-both', tell})
  }
  beforeEach(async () => {
    fixture = await planeFixture()
  })
  afterEach(() => fixture.remove())

  it('get the CA, its files and the step', async () => {
    const out = join(fixture.dir, 'out')
    const words = ['CA', 'CA_CERTIFICATE', 'CA_KEY', 'ROTATION_STEP'].map(
      (one) => `$TRUSTADM_${one}`,
    )
    await run(`echo "${words.join(' ')}" >> ${out}`)
    const pki = (name: string) => join(fixture.dir, 'pki', name)
    const wanted = `a-ca ${pki('a-ca.crt')} ${pki('a-ca.key')} servers-trust-both\n`
    assert.equal(await readFile(out, 'utf8'), wanted)
  })

  it('stop the rotation if they fail', async () => {
    const message = /the command of the CA "a-ca" ended with 3/
    await assert.rejects(run('exit 3'), {code: 'ON_CHANGE_FAILED', message})
  })
})
