import assert from 'node:assert/strict'
import {setMaxListeners} from 'node:events'
import type {Socket} from 'node:net'
import {mock} from 'node:test'
import type {UserInfo} from '../../../src/api/meta.ts'
import {Arrivals} from '../../../src/server/http/arrivals.ts'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'

const ADMIN: UserInfo = {username: 'admin', groups: ['system:masters', 'system:authenticated']}

describe('requests that have arrived from one address', () => {
  let now = 0
  let arrivals: Arrivals
  beforeEach(() => {
    mock.method(performance, 'now', () => now)
    arrivals = new Arrivals(new ProcessorSlice())
  })
  afterEach(() => mock.restoreAll())

  const arrive = (remotePort: number, authorization?: string) =>
    arrivals.add({remoteAddress: '192.0.2.1', remotePort} as Socket, {
      peer: undefined,
      authorization,
    })

  /** How many of a flood are served before one more; each takes longer than a turn has for requests. */
  async function servedBefore(connections: number, authorization?: string): Promise<number> {
    const {signal} = new AbortController()
    setMaxListeners(0, signal)
    let served = 0
    const work = () => {
      served++
      now += 8
    }
    // Uses up what is left of this turn.
    for (let count = 0; count < 10; count++) void arrive(1).turn(signal)
    now += 8
    served = 0
    const flood = Array.from({length: 600}, (_, count) =>
      arrive(2 + (count % connections), `Bearer ${count}`)
        .turn(signal)
        .then(work),
    )
    const before = arrive(1000, authorization)
      .turn(signal)
      .then(() => served)
    await Promise.all([before, ...flood])
    return before
  }

  it('wait for one of each other connection, not for all requests of a neighbour', async () => {
    assert.ok((await servedBefore(20)) <= 21)
  })

  it('do not wait for connections of strangers if their caller has logged in before', async () => {
    arrive(900, 'Bearer admin').loggedIn(ADMIN)
    assert.ok((await servedBefore(200, 'Bearer admin')) <= 2)
  })

  it('wait with strangers once their credential was refused', async () => {
    arrive(900, 'Bearer old').loggedIn(ADMIN)
    arrive(900, 'Bearer old').loggedIn(undefined)
    assert.ok((await servedBefore(200, 'Bearer old')) > 100)
  })
})
