import assert from 'node:assert/strict'
import {getHeapSpaceStatistics} from 'node:v8'
import {heapPolicy, youngGrowth} from '../../src/control-plane/process-memory.ts'

const MIB = 2 ** 20

describe('the heap of a server', () => {
  it('may double while half of the memory is free', () => {
    assert.equal(heapPolicy(100 * MIB, 400 * MIB).growth, 100)
    assert.equal(heapPolicy(199 * MIB, 400 * MIB).growth, 100)
  })

  it('grows less, the closer the server is to its memory', () => {
    const policies = [150, 220, 300, 390, 500].map((used) => heapPolicy(used * MIB, 400 * MIB))
    assert.deepEqual(
      policies.map(({growth}) => growth),
      [100, 30, 10, 10, 10],
    )
    assert.deepEqual(
      policies.map(({compacts}) => compacts),
      [false, false, true, true, true],
    )
  })

  it('grows its space for new objects up to a limit, also after V8 has shrunk it', () => {
    assert.deepEqual(
      [1, 8, 16, 32].map((size) => youngGrowth(size * MIB)),
      [2, 2, 1, 1],
    )
  })

  it('has a space for new objects by the name that is looked for', () => {
    const names = getHeapSpaceStatistics().map(({space_name}) => space_name)
    assert.ok(names.includes('new_space'), names.join())
  })
})
