import assert from 'node:assert/strict'
import {deploymentManifest} from '../../src/controllers/deployment-manifest.ts'

describe('the Deployment of controllers', () => {
  const spec = (elects: boolean) => {
    const options = {controllers: ['csr-cleaner'], image: 'trustadm', args: [], elects}
    return deploymentManifest(options).spec as {replicas: number; strategy?: {type: string}}
  }

  it('has two pods if a lease decides which works', () => {
    assert.deepEqual([spec(true).replicas, spec(true).strategy], [2, undefined])
  })

  it('never has two pods that both work', () => {
    assert.deepEqual([spec(false).replicas, spec(false).strategy], [1, {type: 'Recreate'}])
  })
})
