import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {keepAndCreateKeys} from '../../../src/control-plane/ca-rotation/generations.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('the journal of a rotation that begins', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
    await fixture.run('certs')
  })
  after(() => fixture.remove())

  it('is refused while there are CAs of a rotation that no journal knows', async () => {
    const {plane} = fixture.context
    const folder = join(fixture.dir, 'pki/rotation')
    await keepAndCreateKeys(plane)
    await assert.rejects(newJournal(plane, undefined, {}, systemClock.now()), {
      code: 'CONFLICT',
      message: new RegExp(`^${folder} has the CAs of a rotation`),
    })
    await rm(folder, {recursive: true})
    const {phase} = await newJournal(plane, undefined, {}, systemClock.now())
    assert.equal(phase, 'Prepare')
  })
})
