import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {listen} from './support.ts'

const CLIENT = fileURLToPath(new URL('keep-alive-client.ts', import.meta.url))
const CONNECTIONS = 4
const REQUESTS = 1250
const BODY = Buffer.alloc(200_000)

/** Reads the request's body and answers as many bytes as its path says. */
const handler: Handler = async ({path, body}) => {
  if (typeof body === 'function') await body()
  return {status: 200, headers: {}, body: BODY.subarray(0, Number(path.slice(1)))}
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
})
