import assert from 'node:assert/strict'
import {parseChecks, parseCounts} from '../../src/control-plane/status.ts'

describe('status', () => {
  it('reads the checks of a verbose probe', () => {
    assert.deepEqual(parseChecks('[+]ping ok\n[-]storage failed: reason withheld\nreadyz\n'), [
      {name: 'ping', ok: true},
      {name: 'storage', ok: false},
    ])
  })

  it('reads how many objects of each kind are stored, and leaves out what there is none of', () => {
    const metrics = [
      '# TYPE apiserver_storage_objects gauge',
      'apiserver_storage_objects{resource="secrets"} 2',
      'apiserver_storage_objects{resource="pods"} 0',
      'apiserver_storage_objects{resource="configmaps"} 5',
      'other{resource="x"} 1',
    ].join('\n')
    assert.deepEqual(parseCounts(metrics), [
      {resource: 'configmaps', count: 5},
      {resource: 'secrets', count: 2},
    ])
  })
})
