import assert from 'node:assert/strict'
import {defaultDir} from '../../src/cli/places.ts'

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
