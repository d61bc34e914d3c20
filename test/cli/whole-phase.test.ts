import assert from 'node:assert/strict'
import {requireWholePhase} from '../../src/cli/whole-phase.ts'
import {run} from './program.ts'

describe('a phase of init', () => {
  it('is refused with a part that only kubeadm has, and says how to run it', async () => {
    const {stderr, exit} = await run('init', 'phase', 'kubeconfig', 'admin', '--dry-run')
    assert.equal(exit, 2)
    assert.match(stderr, /^Error: the phase kubeconfig cannot be limited to a part of it\n/)
    assert.match(stderr, /run "trustadm init phase kubeconfig"/)
  })

  for (const line of [
    ['kubeconfig', 'all'],
    ['kubeconfig', '--dry-run'],
    ['rbac'],
    ['certs', 'apiserver'],
    ['nonsense', 'admin'],
  ]) {
    it(`is left to the parser: ${line.join(' ')}`, () => {
      assert.doesNotThrow(() => requireWholePhase(line))
    })
  }
})
