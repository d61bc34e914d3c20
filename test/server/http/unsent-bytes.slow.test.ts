import assert from 'node:assert/strict'
import {connect} from 'node:http2'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {UnsentBytes} from '../../../src/server/http/unsent-bytes.ts'
import {until} from '../support.ts'
import {get1, listen} from './support.ts'

const open = (drop: () => void) => ({drop, isOver: () => false})

describe('UnsentBytes', () => {
  it('forgets a response whose caller has left', async () => {
    const unsent = new UnsentBytes(100)
    unsent.hold(40, {drop: () => undefined, isOver: () => true})
    await until(() => unsent.bytes === 0)
  })

  it('drops what was not read for longest until the rest fits', async () => {
    const unsent = new UnsentBytes(100)
    const dropped: string[] = []
    for (const name of ['a', 'b', 'c', 'd'])
      unsent.hold(
        40,
        open(() => dropped.push(name)),
      )
    assert.deepEqual(dropped, [])
    await until(() => unsent.bytes <= 100)
    assert.deepEqual(dropped, ['a', 'b'])
  })

  it('drops nobody who reads, however much there was at a time', async () => {
    const unsent = new UnsentBytes(100)
    const read = open(() => assert.fail('it was read'))
    const released = Array.from({length: 50}, () => unsent.hold(40, read))
    for (const release of released) release()
    assert.equal(unsent.bytes, 0)
    let isDropped = false
    unsent.hold(
      200,
      open(() => (isDropped = true)),
    )
    await until(() => isDropped)
  })
})

describe('a caller that asks for many responses and reads none', () => {
  const body = 'x'.repeat(50_000)
  const whole: Handler = () => Promise.resolve({status: 200, headers: {}, body})
  async function* piece() {
    yield await Promise.resolve(body)
  }
  const watch: Handler = () => Promise.resolve({status: 200, headers: {}, body: piece()})
  for (const [what, handler] of [
    ['short responses', whole],
    ['watches', watch],
  ] as const) {
    it(`loses its ${what} once they take too much memory, and others are served`, async () => {
      const {listener, port, ca} = await listen(handler, {
        unsentBytes: 500_000,
        exchangeBytes: 1_200_000,
      })
      const session = connect(`https://127.0.0.1:${port}`, {ca, settings: {initialWindowSize: 0}})
      session.on('error', () => undefined)
      let ended = 0
      for (let count = 0; count < 100; count++)
        session
          .request({':path': '/'})
          .on('error', () => undefined)
          .on('close', () => ended++)
      await until(() => ended >= 90)
      assert.equal((await get1({port, ca}, '/')).text.length, body.length)
      session.destroy()
      await listener.close(0)
    })
  }
})
