import assert from 'node:assert/strict'
import {ServerClock, type ClockLead} from '../../../src/node/certificate-manager/server-clock.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const TRUE = new Date('2026-06-01T00:00:00Z').getTime()

describe("the server's clock", () => {
  let now: number
  let told: (ClockLead | undefined)[]
  let server: ServerClock
  beforeEach(() => {
    now = TRUE
    told = []
    server = new ServerClock({now: () => new Date(now)}, (lead) => void told.push(lead))
  })
  const see = (time = TRUE, elapsed = 0) => server.see(new Date(time), elapsed)

  it("is this machine's until the server answers, and while both agree", () => {
    assert.equal(server.now().getTime(), now)
    see()
    see(TRUE + DAY)
    assert.deepEqual([server.ahead, server.lead, told], [0, undefined, []])
  })

  it('is known once it answers, and told once until that changes', () => {
    now = TRUE + 330 * DAY
    see()
    see()
    assert.equal(server.now().getTime(), TRUE + 1000)
    const lead = {seconds: 330 * 24 * 3600 - 1, at: '2027-04-27T00:00:00Z'}
    assert.deepEqual([server.lead, told], [lead, [lead]])
    see(now)
    assert.deepEqual([server.ahead, told], [0, [lead, undefined]])
  })

  it('counts some minutes, but does not tell them', () => {
    now = TRUE + 2 * MINUTE
    see()
    assert.deepEqual([server.ahead, told], [2 * MINUTE - 1000, []])
  })

  it('takes no answer that was late for a clock that is ahead', () => {
    now = TRUE + DAY
    see(TRUE, DAY)
    assert.equal(server.ahead, 0)
  })

  it('takes a clock that was set back for right, until the server answers again', () => {
    now = TRUE + DAY
    see()
    now = TRUE
    assert.deepEqual([server.ahead, server.lead], [0, undefined])
  })

  it('counts what an earlier process has seen, unless the clock was set back since', () => {
    server.restore({seconds: 3600, at: '2026-06-01T00:00:00Z'})
    assert.equal(server.ahead, 60 * MINUTE)
    now -= 1
    assert.equal(server.ahead, 0)
  })
})
