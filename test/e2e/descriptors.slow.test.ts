import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {connect as connectTls, type TLSSocket} from 'node:tls'
import {connect} from '../../src/client/connect.ts'
import {PROGRAM, startCluster, type Cluster} from '../helpers/cluster.ts'
import {until} from '../server/support.ts'

const LIMIT = 96

describe('a server with few descriptors', () => {
  let cluster: Cluster
  before(async function () {
    if (process.platform !== 'linux') this.skip()
    cluster = await startCluster()
    await cluster.killServer()
  })
  after(() => cluster?.stop())

  it('stays up and in reach while connections take all that they can, and says so in readyz', async () => {
    const command = `ulimit -n ${LIMIT} && exec "$@"`
    const serve = [process.execPath, PROGRAM, 'serve', '--dir', cluster.dir]
    const server = spawn('/bin/sh', ['-c', command, 'sh', ...serve], {stdio: 'ignore'})
    const ended = once(server, 'exit')
    const admin = await connect(cluster.kubeconfig, {retry: {attempts: 1}})
    const ask = (path: string) => admin.raw(path).catch(String)
    const sockets: TLSSocket[] = []
    try {
      await until(async () => (await ask('/readyz')) === 'ok')
      assert.match(await ask('/readyz?verbose'), /\[\+\]descriptors ok/)
      const port = Number(new URL(cluster.endpoint).port)
      for (let count = 0; count < 2 * LIMIT; count++) {
        const socket = connectTls({host: '127.0.0.1', port, rejectUnauthorized: false})
        sockets.push(socket.on('error', () => undefined))
        await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')])
      }
      await until(async () => (await ask('/readyz?verbose')).includes('[-]descriptors failed'))
      assert.equal(await ask('/readyz'), 'ok')
      assert.match(await ask('/readyz/descriptors'), /of 96 descriptors are open/)
      assert.match(await ask('/metrics'), /trustadm_open_connections/)
      for (const socket of sockets) socket.destroy()
      await until(async () => (await ask('/readyz?verbose')).includes('[+]descriptors ok'))
      assert.equal(server.exitCode, null)
    } finally {
      for (const socket of sockets) socket.destroy()
      await admin.close()
      server.kill('SIGTERM')
      await ended
    }
  })
})
