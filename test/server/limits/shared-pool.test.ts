import assert from 'node:assert/strict'
import fc from 'fast-check'
import {SharedPool, type Holding} from '../../../src/server/limits/shared-pool.ts'

const HALVES = {a: 1 / 2, b: 1 / 2}

describe('SharedPool', () => {
  const fill = (pool: SharedPool, group: string, name: string, times: number) => {
    let ended = 0
    const holdings = Array.from({length: times}, () => pool.open({group, name}, () => ended++))
    const taken = holdings.filter((holding) => holding.take(1))
    for (const holding of holdings) if (!taken.includes(holding)) holding.release()
    return {taken, ended: () => ended}
  }

  it('gives one holder no more than its limit', () => {
    const pool = new SharedPool({total: 100, perHolder: 10, shares: HALVES})
    assert.equal(fill(pool, 'a', 'x', 50).taken.length, 10)
  })

  it('lends to one group what another does not need, and takes it back', () => {
    const pool = new SharedPool({total: 10, perHolder: 10, shares: HALVES})
    const borrower = fill(pool, 'a', 'x', 10)
    assert.equal(borrower.taken.length, 10)
    const owner = fill(pool, 'b', 'y', 10)
    assert.deepEqual([owner.taken.length, borrower.ended(), pool.taken], [5, 5, 10])
  })

  it('never takes from a group that has no more than its own', () => {
    const pool = new SharedPool({total: 12, perHolder: 12, shares: {a: 1 / 3, b: 1 / 3, c: 1 / 3}})
    const small = fill(pool, 'a', 'x', 3)
    const greedy = fill(pool, 'b', 'y', 9)
    const last = fill(pool, 'c', 'z', 9)
    assert.deepEqual([small.ended(), greedy.ended(), last.taken.length], [0, 4, 4])
  })

  it('gives equal parts to the members of a group, however late they come', () => {
    const pool = new SharedPool({total: 12, perHolder: 12, shares: {a: 1}})
    const greedy = fill(pool, 'a', 'greedy', 12)
    for (const name of ['x', 'y', 'z']) assert.equal(fill(pool, 'a', name, 3).taken.length, 3)
    assert.equal(greedy.ended(), 9)
    assert.equal(fill(pool, 'a', 'greedy', 1).taken.length, 0)
  })

  it('ends the oldest holding first, and takes nothing for one that was ended', () => {
    const pool = new SharedPool({total: 2, perHolder: 2, shares: {a: 1}})
    const ended: number[] = []
    const holdings = [1, 2].map((id) => pool.open({group: 'a', name: 'x'}, () => ended.push(id)))
    for (const holding of holdings) holding.take(1)
    fill(pool, 'a', 'y', 1)
    assert.deepEqual(ended, [1])
    assert.equal(holdings[0]?.take(1), false)
  })

  it('forgets holders that hold nothing, and takes back only once', () => {
    const pool = new SharedPool({total: 10, perHolder: 10, shares: HALVES})
    const {taken} = fill(pool, 'a', 'x', 2)
    taken[0]?.release()
    taken[0]?.release()
    assert.equal(pool.taken, 1)
    taken[1]?.release()
    assert.deepEqual([pool.taken, pool.holders], [0, 0])
  })

  it('never counts wrong and never gives more than there is, whatever is taken and given back', () => {
    const step = fc.record({
      group: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('x', 'y', 'z'),
      amount: fc.integer({min: 1, max: 4}),
      release: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, {maxLength: 100}), (steps) => {
        const pool = new SharedPool({total: 12, perHolder: 6, shares: HALVES})
        const held = new Map<Holding, number>()
        for (const {group, name, amount, release} of steps) {
          const [first] = held.keys()
          if (release && first !== undefined) {
            first.release()
            held.delete(first)
            continue
          }
          const holding = pool.open({group, name}, () => held.delete(holding))
          if (holding.take(amount)) held.set(holding, amount)
          else holding.release()
          const sum = [...held.values()].reduce((all, one) => all + one, 0)
          assert.equal(pool.taken, sum)
          assert.ok(sum <= 12)
        }
        for (const holding of [...held.keys()]) holding.release()
        assert.deepEqual([pool.taken, pool.holders], [0, 0])
      }),
    )
  })
})
