import assert from 'node:assert/strict'
import {setMaxListeners} from 'node:events'
import {mock} from 'node:test'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'
import {Turns, type Path} from '../../../src/server/limits/turns.ts'

describe('Turns', () => {
  let now = 0
  let turns: Turns
  const never = new AbortController().signal
  setMaxListeners(0, never)
  beforeEach(() => {
    mock.method(performance, 'now', () => now)
    turns = new Turns(new ProcessorSlice(), 10)
  })
  afterEach(() => mock.restoreAll())

  /** In the order in which they were served; each takes longer than a turn of the event loop has for requests. */
  async function served(...paths: Path[]): Promise<string[]> {
    const order: string[] = []
    const waits = paths.map(async (path) => {
      await turns.next(path, never)
      order.push(path.join('/'))
      now += 8
    })
    await Promise.allSettled(waits)
    return order
  }

  it('serves kinds in turn, then callers, then connections, whatever others have waiting', async () => {
    const order = await served(
      ['anonymous', 'a', '1'],
      ['anonymous', 'a', '1'],
      ['anonymous', 'a', '1'],
      ['anonymous', 'a', '2'],
      ['anonymous', 'b', '3'],
      ['people', 'ann', '4'],
    )
    assert.deepEqual(order, [
      'anonymous/a/1',
      'people/ann/4',
      'anonymous/b/3',
      'anonymous/a/2',
      'anonymous/a/1',
      'anonymous/a/1',
    ])
  })

  it('lets pass at once if there is time and nobody waits', async () => {
    await turns.wait(['people', 'ann'], never)
    assert.equal(turns.waiting, 0)
  })

  it('drops the newest of whoever has most waiting, not the one who comes last', async () => {
    const greedy = Array.from({length: 10}, () => turns.next(['anonymous', 'a', '1'], never))
    const honest = turns.next(['anonymous', 'a', '2'], never)
    assert.equal(turns.waiting, 10)
    const results = await Promise.allSettled([...greedy, honest])
    assert.deepEqual(
      results.map(({status}) => status),
      [...Array<string>(9).fill('fulfilled'), 'rejected', 'fulfilled'],
    )
  })

  it('forgets whoever leaves', async () => {
    const leaving = new AbortController()
    const gone = turns.next(['people', 'ann'], leaving.signal)
    const stays = turns.next(['people', 'bob'], never)
    leaving.abort(new Error('left'))
    await assert.rejects(gone, {message: 'left'})
    assert.equal(turns.waiting, 1)
    await stays
    await assert.rejects(turns.wait(['people', 'ann'], leaving.signal), {message: 'left'})
    assert.equal(turns.waiting, 0)
  })

  it('lets others run between the pieces of long work', async () => {
    const pause = turns.pauses(['people', 'ann'], never)
    assert.equal(pause(), undefined)
    now += 5
    let others = 0
    void nextTurn().then(() => others++)
    await pause()
    assert.equal(others, 1)
    assert.equal(pause(), undefined)
  })
})
