import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {costOf, LargeBodies} from '../../../src/server/limits/large-bodies.ts'

const LARGE = 1024 * 1024
const SMALL = 1024
/** How long the processor is busy with a large body. */
const WORK = 15
const WAITING = {waitingPerHolder: 10, waitingPerGroup: 20, waitMilliseconds: 60_000}

describe('LargeBodies', () => {
  const {signal} = new AbortController()
  let bodies: LargeBodies
  let order: string[]
  const member = (name: string, group = 'nodes') => ({group, name})

  let now = 0
  beforeEach(() => {
    mock.method(performance, 'now', () => now)
    mock.timers.enable({apis: ['setTimeout']})
    bodies = new LargeBodies(['nodes', 'people'], WAITING)
    order = []
  })
  afterEach(() => {
    mock.restoreAll()
    mock.timers.reset()
  })

  /** The others have had the processor for as long as it takes. */
  const rest = async (milliseconds = 7 * WORK) => {
    // One for the work, one for what is done after it.
    await nextTurn()
    await nextTurn()
    mock.timers.tick(milliseconds)
  }

  const serve = async (name: string, bytes: number, group?: string) => {
    const begin = await bodies.turn(member(name, group), bytes, signal)
    begin()
    if (bytes === LARGE) now += WORK
    order.push(name)
  }

  it('lets small ones pass between large ones of several identities', async () => {
    const large = ['a', 'b', 'c'].map((name) => serve(name, LARGE))
    await nextTurn()
    await serve('small', SMALL)
    assert.deepEqual(order, ['a', 'small'])
    await rest()
    await rest()
    await Promise.all(large)
    assert.deepEqual(order, ['a', 'small', 'b', 'c'])
  })

  it('counts YAML as what it costs to parse', () => {
    assert.equal(costOf(4096), 4096)
    assert.equal(costOf(4096, 'application/json'), 4096)
    assert.equal(costOf(4096, 'application/Apply-Patch+YAML'), 65_536)
  })

  it('gives others seven times as long after a large one', async () => {
    const large = ['a', 'b'].map((name) => serve(name, LARGE))
    await rest(7 * WORK - 1)
    await nextTurn()
    await serve('small', SMALL)
    await rest(1)
    await Promise.all(large)
    assert.deepEqual(order, ['a', 'small', 'b'])
    assert.equal(bodies.waiting, 0)
  })

  it('keeps its turn until its work has begun, however long that takes', async () => {
    const begin = await bodies.turn(member('a'), LARGE, signal)
    const next = serve('b', LARGE)
    await rest()
    assert.deepEqual(order, [])
    begin()
    now += WORK
    await rest()
    await next
    assert.deepEqual(order, ['b'])
  })

  it('takes groups in turn, however many identities one has', async () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => serve(name, LARGE))
    const all = Promise.all([...nodes, serve('ann', LARGE, 'people')])
    for (let turn = 0; turn < 6; turn++) await rest()
    await all
    assert.ok(order.indexOf('ann') <= 2, order.join())
  })

  it('refuses what has waited too long', async () => {
    bodies = new LargeBodies(['nodes'], {...WAITING, waitMilliseconds: 0})
    await bodies.turn(member('a'), LARGE, signal)
    await assert.rejects(bodies.turn(member('b'), LARGE, signal), {code: 429})
  })
})
