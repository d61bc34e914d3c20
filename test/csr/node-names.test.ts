import assert from 'node:assert/strict'
import {nodeOfUser, nodeUser} from '../../src/csr/node-names.ts'

describe('names of nodes', () => {
  it('go to the user and back', () => {
    assert.equal(nodeOfUser(nodeUser('worker-1')), 'worker-1')
  })

  it('are not found in the users of others, nor in the bare prefix', () => {
    for (const user of ['worker-1', 'system:node:', 'system:nodes', '']) {
      assert.equal(nodeOfUser(user), undefined)
    }
  })
})
