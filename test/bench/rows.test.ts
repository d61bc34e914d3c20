import assert from 'node:assert/strict'
import {compared, median, misses, type Goal} from '../../bench/rows.ts'

const row = (value: number, goal?: Goal) => compared('a row', value, 'ms', [10, 'another'], goal)

describe('the rows of a bench', () => {
  it('miss no goal if they have none', () => {
    assert.equal(misses(row(1000)), false)
  })

  it('miss a goal by the ratio, which may be as large as the goal', () => {
    assert.equal(misses(row(27, {atMost: 2.7})), false)
    assert.equal(misses(row(28, {atMost: 2.7})), true)
    assert.equal(misses(row(5, {atLeast: 0.5})), false)
    assert.equal(misses(row(4, {atLeast: 0.5})), true)
  })

  it('miss a goal by the value if there is no baseline', () => {
    const alone = {name: 'alone', value: 200, unit: 'MiB'}
    assert.equal(misses({...alone, goal: {atMost: 200}}), false)
    assert.equal(misses({...alone, goal: {atMost: 199}}), true)
  })

  it('miss their goal if nothing was measured', () => {
    assert.equal(misses(row(Number.NaN, {atMost: 1})), true)
    assert.equal(misses(row(median([]), {atLeast: 0})), true)
  })

  it('have the middle of an even number of values between two of them', () => {
    assert.equal(median([9, 1, 5]), 5)
    assert.equal(median([9, 1, 5, 3]), 4)
  })
})
