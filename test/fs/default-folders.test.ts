import assert from 'node:assert/strict'
import {defaultDir, defaultNodeDir} from '../../src/fs/default-folders.ts'

describe('defaultDir', () => {
  it('takes $TRUSTADM_DIR first', () => {
    assert.equal(defaultDir({TRUSTADM_DIR: '/srv/plane'}, {isRoot: true}), '/srv/plane')
  })
  it('is a system folder for root', () => {
    assert.equal(defaultDir({}, {isRoot: true, home: '/home/a'}), '/var/lib/trustadm')
  })
  it('is in the home of anybody else', () => {
    assert.equal(defaultDir({}, {isRoot: false, home: '/home/a'}), '/home/a/.trustadm')
  })
})

describe('defaultNodeDir', () => {
  it('takes $TRUSTADM_NODE_DIR first', () => {
    assert.equal(defaultNodeDir({TRUSTADM_NODE_DIR: '/srv/node'}, {isRoot: true}), '/srv/node')
  })
  it('is never the folder of a control plane on the same machine', () => {
    const environment = {TRUSTADM_DIR: '/srv/plane'}
    assert.equal(defaultNodeDir(environment, {isRoot: true}), '/var/lib/trustadm-node')
  })
  it('is in the home of anybody else', () => {
    assert.equal(defaultNodeDir({}, {isRoot: false, home: '/home/a'}), '/home/a/.trustadm-node')
  })
})
