import assert from 'node:assert/strict'
import {getHeapSpaceStatistics} from 'node:v8'
import {heapPolicy, youngGrowth} from '../../src/control-plane/process-memory.ts'

const MIB = 2 ** 20

describe('the heap of a server', () => {
  const policyAt = (used: number, heap: number) =>
    heapPolicy({used: used * MIB, heap: heap * MIB, target: 400 * MIB})

  it('may double while there is room for that', () => {
    assert.equal(policyAt(100, 40).growth, 100)
    assert.equal(policyAt(199, 60).growth, 100)
  })

  it('grows less, the closer the server is to its memory and the larger it is', () => {
    const growths = ([used, heap]: [number, number]) => policyAt(used, heap).growth
    const uses: [number, number][] = [
      [150, 80],
      [250, 80],
      [250, 160],
      [340, 80],
      [390, 80],
      [500, 80],
    ]
    assert.deepEqual(uses.map(growths), [100, 94, 47, 38, 10, 10])
  })

  it('gives up speed only where nearly all of the memory is used', () => {
    assert.deepEqual(
      [200, 300, 374, 376, 500].map((used) => policyAt(used, 80).compacts),
      [false, false, false, true, true],
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
