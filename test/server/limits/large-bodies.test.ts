import assert from 'node:assert/strict'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {LargeBodies} from '../../../src/server/limits/large-bodies.ts'

const LARGE = 1024 * 1024
const SMALL = 1024
const WAITING = {waitingPerHolder: 10, waitingPerGroup: 20, waitMilliseconds: 60_000}

/** Work that keeps the processor busy, as the decoding of a body does. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

describe('LargeBodies', () => {
  const {signal} = new AbortController()
  let bodies: LargeBodies
  let order: string[]
  const member = (name: string, group = 'nodes') => ({group, name})

  beforeEach(() => {
    bodies = new LargeBodies(['nodes', 'people'], WAITING)
    order = []
  })

  const serve = async (name: string, bytes: number, group?: string) => {
    await bodies.turn(member(name, group), bytes, signal)
    if (bytes === LARGE) work(15)
    order.push(name)
  }

  it('lets small ones pass between large ones of several identities', async () => {
    const large = ['a', 'b', 'c'].map((name) => serve(name, LARGE))
    await nextTurn()
    await serve('small', SMALL)
    assert.deepEqual(order, ['a', 'small'])
    await Promise.all(large)
    assert.deepEqual(order, ['a', 'small', 'b', 'c'])
  })

  it('gives others several turns of the event loop after a large one', async () => {
    const large = ['a', 'b'].map((name) => serve(name, LARGE))
    for (let step = 0; step < 5; step++) {
      await nextTurn()
      await serve(`step ${step}`, SMALL)
    }
    await Promise.all(large)
    assert.equal(order.at(-1), 'b')
    assert.equal(bodies.waiting, 0)
  })

  it('takes groups in turn, however many identities one has', async () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => serve(name, LARGE))
    await Promise.all([...nodes, serve('ann', LARGE, 'people')])
    assert.ok(order.indexOf('ann') <= 2, order.join())
  })

  it('refuses what has waited too long', async () => {
    bodies = new LargeBodies(['nodes'], {...WAITING, waitMilliseconds: 0})
    await bodies.turn(member('a'), LARGE, signal)
    await assert.rejects(bodies.turn(member('b'), LARGE, signal), {code: 429})
  })
})
