import assert from 'node:assert/strict'
import {showAuthority} from '../../../src/control-plane/ca-rotation/authorities.ts'
import {selectUnits, unitsOf} from '../../../src/control-plane/ca-rotation/units.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

type Refusal = Error & {suggestions?: string[]}

const suggests = (meant: string) => (error: Refusal) =>
  error.suggestions?.[0] === `did you mean "${meant}"?` && error.suggestions.length === 2

describe('a mistyped name of a CA', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
  })
  after(() => fixture.remove())

  it('gets a suggestion from --only', async () => {
    const units = await unitsOf(fixture.context.plane)
    assert.throws(() => selectUnits(units, ['fron-proxy-ca']), suggests('front-proxy-ca'))
  })

  it('gets a suggestion from ca show', async () => {
    const shown = showAuthority(fixture.context.plane, 'kubelet-servin-ca', systemClock)
    await assert.rejects(shown, suggests('kubelet-serving-ca'))
  })
})
