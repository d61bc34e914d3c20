import assert from 'node:assert/strict'
import {isUndecided, stateOf} from '../../src/csr/conditions.ts'

const withConditions = (...types: string[]) => ({
  status: {conditions: types.map((type) => ({type, status: 'True' as const}))},
})

describe('the state of a certificate request', () => {
  for (const {types, state} of [
    {types: [], state: 'Pending'},
    {types: ['ApprovalPatch'], state: 'Pending'},
    {types: ['Approved'], state: 'Approved'},
    {types: ['Denied'], state: 'Denied'},
    {types: ['Approved', 'Failed'], state: 'Failed'},
    {types: ['Failed', 'Denied'], state: 'Denied'},
  ]) {
    it(`is ${state} with the conditions [${types.join(', ')}]`, () => {
      assert.equal(stateOf(withConditions(...types)), state)
    })
  }

  it('is Issued once there is a certificate', () => {
    const {conditions} = withConditions('Approved').status
    assert.equal(stateOf({status: {conditions, certificate: 'Li4u'}}), 'Issued')
  })

  it('is undecided until it is approved or denied, whatever else was said of it', () => {
    assert.equal(isUndecided({}), true)
    assert.equal(isUndecided(withConditions('Failed', 'Custom')), true)
    assert.equal(isUndecided(withConditions('Denied')), false)
  })
})
