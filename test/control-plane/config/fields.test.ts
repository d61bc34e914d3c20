import assert from 'node:assert/strict'
import {nodeName} from '../../../src/control-plane/config/fields.ts'

describe('the name of the machine that a control plane runs on', () => {
  for (const name of [
    '',
    'invalid-nodename-',
    'invalid-node?name',
    '-a',
    'a..b',
    'a'.repeat(254),
  ]) {
    it(`is not "${name.slice(0, 20)}"`, () => {
      assert.throws(() => nodeName(name, '--node-name'), {code: 'CONFIG_INVALID'})
    })
  }

  it('is brought down to lower case, as kubeadm does', () => {
    assert.equal(nodeName('Node-1.Example.com', '--node-name'), 'node-1.example.com')
  })
})
