import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {until} from '../support.ts'
import {listen, rawConnection, untilClosed} from './support.ts'

const CLIENT = fileURLToPath(new URL('keep-alive-client.ts', import.meta.url))
const CONNECTIONS = 4
const REQUESTS = 1250

const BODY = Buffer.alloc(200_000)

/** Reads the request's body and answers as many bytes as its path says. */
const handler: Handler = async ({path, body}) => {
  if (typeof body === 'function') await body()
  return {status: 200, headers: {}, body: BODY.subarray(0, Number(path.slice(1)))}
}

async function* endless() {
  for (;;) yield await Promise.resolve(BODY)
}

describe('HTTP/1.1 connections that are kept', () => {
  it('answer each of 10,000 requests of all sizes, one after the other and pipelined', async function () {
    this.timeout(60_000)
    const {listener, port, ca} = await listen(handler)
    try {
      const args = ['--import', 'tsx', CLIENT, port, CONNECTIONS, REQUESTS].map(String)
      const {stdout} = await promisify(execFile)(process.execPath, args, {
        env: {...process.env, SERVER_CA: ca},
      })
      assert.equal(Number(stdout), 2 * CONNECTIONS * REQUESTS)
    } finally {
      await listener.close(0)
    }
  })

  it('do not drop a long answer that waits behind a slow one', async () => {
    const seen: string[] = []
    let finish: () => void = () => undefined
    const slow = new Promise<void>((resolve) => (finish = resolve))
    const {listener, port, ca} = await listen(
      async (request) => {
        seen.push(request.path)
        if (request.path === '/endless') return {status: 200, headers: {}, body: endless()}
        if (request.path === '/0') await slow
        return handler(request)
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
