import assert from 'node:assert/strict'
import {Wait} from '../../src/node/wait.ts'

const YEAR = 365 * 24 * 3_600_000

describe('a wait', () => {
  let now: number
  let wait: Wait
  beforeEach(() => {
    now = new Date('2026-06-01T00:00:00Z').getTime()
    wait = new Wait({now: () => new Date(now)})
  })
  const left = () => wait.until.getTime() - now

  it('is over before it was started, and once it was ended', () => {
    assert.equal(wait.until.getTime(), 0)
    wait.start(1000)
    wait.end()
    assert.equal(wait.until.getTime(), 0)
  })

  it('lasts as long as was asked for', () => {
    wait.start(1000)
    assert.equal(left(), 1000)
    now += 1000
    assert.equal(left(), 0)
  })

  it('does not become longer because the clock was set back, and comes to an end', () => {
    wait.start(1000)
    now -= YEAR
    assert.equal(left(), 1000)
    now += 1000
    assert.equal(left(), 0)
  })
})
