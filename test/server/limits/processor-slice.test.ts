import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {FairQueue} from '../../../src/server/limits/fair-queue.ts'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'

/** Longer than a slice. */
const LONG = 8

describe('a slice of the processor', () => {
  let now = 0
  beforeEach(() => mock.method(performance, 'now', () => now))
  afterEach(() => mock.restoreAll())

  const queueOf = (slice: ProcessorSlice) =>
    new FairQueue({
      total: Infinity,
      perHolder: 100,
      reserves: {all: 0},
      waitingPerHolder: 10,
      waitingPerGroup: 1000,
      waitMilliseconds: 60_000,
      slice,
    })
  /** Works in the order of the names; each piece notes which turn of the event loop it ran in. */
  async function run(
    names: string[],
    milliseconds: number,
  ): Promise<{name: string; turn: number}[]> {
    const queue = queueOf(new ProcessorSlice())
    const done: {name: string; turn: number}[] = []
    let turn = 0
    const pieces = names.map(async (name) => {
      const release = await queue.take({group: 'all', name}, new AbortController().signal)
      now += milliseconds
      done.push({name, turn})
      release()
    })
    while (done.length < names.length) {
      await nextTurn()
      turn += 1
    }
    await Promise.all(pieces)
    return done
  }

  it('lets what is short run in one turn of the event loop', async () => {
    const done = await run(['a', 'a', 'a'], 0)
    assert.deepEqual(new Set(done.map(({turn}) => turn)), new Set([0]))
  })

  it('lets the event loop turn between pieces that take long', async () => {
    const done = await run(Array<string>(20).fill('a'), LONG)
    const turns = done.map(({turn}) => turn)
    assert.ok(new Set(turns).size >= 12, turns.join())
  })

  it('serves those who wait in turn, however many one has', async () => {
    const done = await run([...Array<string>(20).fill('greedy'), 'honest'], LONG)
    const order = done.map(({name}) => name)
    assert.ok(order.indexOf('honest') <= 10, order.join())
  })

  it('lets connections come in first, but not without end', async () => {
    const slice = new ProcessorSlice()
    let started = 0
    let turns = 0
    slice.serve({startNext: () => (started += 1) < 0})
    while (started === 0) {
      slice.accepted()
      await nextTurn()
      now += 1
      turns += 1
    }
    assert.ok(turns > 2, String(turns))
  })

  it('refuses nobody who waits for nothing but the next turn', async () => {
    const done = await run(Array<string>(100).fill('a'), 1)
    assert.equal(done.length, 100)
  })
})
