import assert from 'node:assert/strict'
import {Reloadable, select, type Read} from '../../src/trust/live.ts'

const fail = (error: unknown) => {
  throw error
}

describe('a live value', () => {
  const numbered: Read<{generation: number}> = (generation) => Promise.resolve({generation})

  it('is replaced as a whole: every subscriber sees the same one, and it is the current one then', async () => {
    const live = await Reloadable.open(numbered, fail)
    const seen: unknown[] = []
    for (const name of ['a', 'b'])
      live.subscribe((value) => void seen.push([name, value.generation, value === live.current]))
    assert.equal(live.current.generation, 1)
    await live.reload()
    assert.deepEqual(seen, [
      ['a', 2, true],
      ['b', 2, true],
    ])
  })

  it('stays as it was where it cannot be read again, says why, and nobody is told', async () => {
    let problem: Error | undefined
    const live = await Reloadable.open(async (generation) => {
      if (problem) throw problem
      return numbered(generation)
    }, fail)
    const seen: number[] = []
    live.subscribe(({generation}) => void seen.push(generation))
    problem = new Error('the file is torn')
    await assert.rejects(live.reload(), problem)
    assert.equal(live.current.generation, 1)
    problem = undefined
    await live.reload()
    assert.deepEqual(seen, [2])
  })

  it('takes reloads one after the other, so that the last one asked for reads last', async () => {
    const reads: (() => void)[] = []
    const live = await Reloadable.open(async (generation) => {
      if (generation > 1) await new Promise<void>((resolve) => reads.push(resolve))
      return generation
    }, fail)
    const both = [live.reload(), live.reload()]
    for (let count = 1; count <= 2; count += 1) {
      while (reads.length < count) await new Promise(setImmediate)
      assert.deepEqual([reads.length, live.current], [count, count])
      reads.at(-1)?.()
    }
    await Promise.all(both)
    assert.equal(live.current, 3)
  })

  it('tells the others where one subscriber fails, and no longer one that has left', async () => {
    const errors: unknown[] = []
    const live = await Reloadable.open(numbered, (error) => errors.push(error))
    const broken = new Error('broken')
    const seen: string[] = []
    const leave = live.subscribe(() => void seen.push('left'))
    live.subscribe(() => fail(broken))
    live.subscribe(() => Promise.reject(broken))
    live.subscribe(() => void seen.push('stayed'))
    leave()
    await live.reload()
    assert.deepEqual(seen, ['stayed'])
    assert.deepEqual(errors, [broken, broken])
  })

  it('is taken up by all once a reload has ended', async () => {
    const live = await Reloadable.open(numbered, fail)
    let done = false
    live.subscribe(async () => {
      await new Promise(setImmediate)
      done = true
    })
    await live.reload()
    assert.ok(done)
  })

  it('shows a part of it to those who need no more', async () => {
    const live = await Reloadable.open(numbered, fail)
    const part = select(live, ({generation}) => `number ${generation}`)
    const seen: string[] = []
    part.subscribe((text) => void seen.push(text))
    await live.reload()
    assert.deepEqual([part.current, seen], ['number 2', ['number 2']])
  })
})
