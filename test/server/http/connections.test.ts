import assert from 'node:assert/strict'
import {ByAddress} from '../../../src/server/http/connections.ts'

const item = (address: string) => ({address})

describe('connections by address', () => {
  it('give up the oldest of the address that has most', () => {
    const all = new ByAddress<{address: string}>()
    const [honest, first, second] = [item('10.0.0.1'), item('10.0.0.2'), item('10.0.0.2')]
    for (const one of [honest, first, second]) all.add(one)
    assert.equal(all.oldestOfMost(), first)
    assert.ok(all.delete(first))
    assert.equal(all.oldestOfMost(), honest)
  })

  it('count each once, and forget addresses that have none', () => {
    const all = new ByAddress<{address: string}>()
    const one = item('10.0.0.1')
    all.add(one)
    all.add(one)
    assert.deepEqual([all.size, ...all], [1, one])
    assert.ok(all.delete(one))
    assert.equal(all.delete(one), false)
    assert.deepEqual([all.size, all.oldestOfMost()], [0, undefined])
  })
})
