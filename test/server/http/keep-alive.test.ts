import assert from 'node:assert/strict'
import {until} from '../support.ts'
import {listen, rawConnection, untilClosed} from './support.ts'

const BODY = Buffer.alloc(200_000)

async function* endless() {
  for (;;) yield await Promise.resolve(BODY)
}

describe('HTTP/1.1 connections that are kept', () => {
  it('do not drop a long answer that waits behind a slow one', async () => {
    const seen: string[] = []
    let finish: () => void = () => undefined
    const slow = new Promise<void>((resolve) => (finish = resolve))
    const {listener, port, ca} = await listen(
      async ({path}) => {
        seen.push(path)
        if (path === '/endless') return {status: 200, headers: {}, body: endless()}
        if (path === '/0') await slow
        return {status: 200, headers: {}, body: BODY.subarray(0, Number(path.slice(1)))}
      },
      {stallMilliseconds: 100},
    )
    try {
      const socket = await rawConnection({port, ca})
      const all = untilClosed(socket)
      socket.write('GET /0 HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.write('GET /200000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      await until(() => seen.length === 2)
      // The slow one is not done before a later answer, which nobody reads, has been dropped for that.
      const idle = await rawConnection({port, ca})
      idle.pause().write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
      await until(() => seen.length === 3)
      await until(() => listener.openConnections === 1)
      idle.destroy()
      finish()
      const text = await all
      assert.equal(text.slice(text.lastIndexOf('\r\n\r\n') + 4).length, 200_000)
    } finally {
      await listener.close(0)
    }
  })
})
