import assert from 'node:assert/strict'
import {setTimeout as wait} from 'node:timers/promises'
import {Patience} from '../../../src/controllers/approval/patience.ts'
import {Turns} from '../../../src/controllers/approval/turns.ts'

describe('Turns', () => {
  it('let those of one key go one after another, in their order, also after a failure', async () => {
    const turns = new Turns()
    const log: string[] = []
    const work = (name: string, fails = false) =>
      turns.take('key', async () => {
        log.push(`${name} begins`)
        await wait(1)
        log.push(`${name} ends`)
        if (fails) throw new Error(name)
      })
    await Promise.allSettled([work('a'), work('b', true), work('c')])
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  it('let those of different keys go side by side', async () => {
    const turns = new Turns()
    let release: () => void = () => undefined
    const held = turns.take('one', () => new Promise<void>((resolve) => (release = resolve)))
    assert.equal(await turns.take('other', () => Promise.resolve('done')), 'done')
    release()
    await held
  })
})

describe('Patience', () => {
  it('waits twice as long each time, from 200 ms to 1000 s, and begins anew once forgotten', () => {
    const patience = new Patience()
    const waits = Array.from({length: 16}, () => patience.next('key'))
    assert.deepEqual(waits.slice(0, 4), [200, 400, 800, 1600])
    assert.deepEqual(waits.slice(-2), [1_000_000, 1_000_000])
    assert.equal(patience.next('other'), 200)
    patience.forget('key')
    assert.equal(patience.next('key'), 200)
  })
})
