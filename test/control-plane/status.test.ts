import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {processIdentity} from '../../src/control-plane/process-identity.ts'
import {writeServerState} from '../../src/control-plane/server-state.ts'
import {parseChecks, parseCounts, readStatus} from '../../src/control-plane/status.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture} from './plane-fixture.ts'

/** What a server returns whose store is full. */
const HEALTH: Record<string, string> = {
  '/readyz': '[+]ping ok\n[-]storage failed: reason withheld\nreadyz check failed\n',
  '/readyz/storage': 'internal server error: no room\n',
}

describe('status', () => {
  it('says why a server is not ready', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const pem = (name: string) => readFile(join(fixture.dir, 'pki', name))
    const [cert, key] = await Promise.all([pem('apiserver.crt'), pem('apiserver.key')])
    const server = createServer({cert, key}, ({url = ''}, response) => {
      response.writeHead(500, {'content-type': 'text/plain'}).end(HEALTH[url.split('?')[0] ?? ''])
    })
    await new Promise<void>((resolve) => server.listen({host: '127.0.0.1', port: 0}, resolve))
    try {
      const {plane} = fixture.context
      await writeServerState(plane, {
        pid: process.pid,
        identity: (await processIdentity(process.pid)) ?? '',
        port: (server.address() as AddressInfo).port,
        endpoint: '',
        startedAt: systemClock.now().toISOString(),
      })
      const {ready, checks, problems} = (await readStatus(plane, systemClock)).server
      assert.equal(ready, false)
      assert.deepEqual(checks, [
        {name: 'ping', ok: true},
        {name: 'storage', ok: false},
      ])
      assert.deepEqual(problems, ['storage: no room'])
    } finally {
      server.close()
      await fixture.remove()
    }
  })

  it('reads the checks of a verbose probe', () => {
    assert.deepEqual(parseChecks('[+]ping ok\n[-]storage failed: reason withheld\nreadyz\n'), [
      {name: 'ping', ok: true},
      {name: 'storage', ok: false},
    ])
  })

  it('reads how many objects of each kind are stored, and leaves out what there is none of', () => {
    const metrics = [
      '# TYPE apiserver_storage_objects gauge',
      'apiserver_storage_objects{resource="secrets"} 2',
      'apiserver_storage_objects{resource="pods"} 0',
      'apiserver_storage_objects{resource="configmaps"} 5',
      'other{resource="x"} 1',
    ].join('\n')
    assert.deepEqual(parseCounts(metrics), [
      {resource: 'configmaps', count: 5},
      {resource: 'secrets', count: 2},
    ])
  })
})
