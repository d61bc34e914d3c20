import assert from 'node:assert/strict'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {openEtcd} from '../../../src/control-plane/migration/open-etcd.ts'

describe('the etcd of a migration', () => {
  it('is named before it has responded', async () => {
    const lines: string[] = []
    let told = -1
    const server = createServer((_request, response) => {
      told = lines.length
      response.end(JSON.stringify({version: '3.3.0'}))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const opened = openEtcd({servers: [url], prefix: '/test'}, (line) => lines.push(line))
      await assert.rejects(opened, {
        code: 'CONFIG_INVALID',
        message: /runs etcd 3\.3\.0, which is too old$/,
      })
      assert.deepEqual(lines, [`connecting to etcd at ${url}`])
      assert.equal(told, 1)
    } finally {
      server.close()
    }
  })
})
