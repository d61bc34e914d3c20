import assert from 'node:assert/strict'
import {Remaining} from '../../../src/cli/rotation/remaining.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)

describe('the remaining time of a rotation', () => {
  it('is unknown until some nodes were seen to change', () => {
    const remaining = new Remaining()
    assert.equal(remaining.observe(90, 100, at(0)), undefined)
    assert.equal(remaining.observe(91, 100, at(1)), undefined)
    assert.equal(remaining.observe(92, 100, at(2)), undefined)
    assert.equal(remaining.observe(93, 100, at(3)), 7)
  })

  it('follows the pace that was seen, without what was done before', () => {
    const remaining = new Remaining()
    remaining.observe(500, 1000, at(0))
    assert.equal(remaining.observe(510, 1000, at(20)), 980)
    // Seconds that pass without a change are no longer left.
    assert.equal(remaining.observe(510, 1000, at(22)), 978)
  })

  it('is unknown again if the next node is overdue', () => {
    const remaining = new Remaining()
    remaining.observe(0, 10, at(0))
    assert.equal(remaining.observe(9, 10, at(18)), 2)
    assert.equal(remaining.observe(9, 10, at(60)), undefined)
  })

  it('begins anew if nodes fall back, and ends with nothing left', () => {
    const remaining = new Remaining()
    remaining.observe(0, 10, at(0))
    assert.notEqual(remaining.observe(5, 10, at(5)), undefined)
    assert.equal(remaining.observe(2, 10, at(6)), undefined)
    assert.equal(remaining.observe(10, 10, at(7)), 0)
  })
})
