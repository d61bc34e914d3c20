import assert from 'node:assert/strict'
import {readFile, rm} from 'node:fs/promises'
import type {RequestListener} from 'node:http'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {formatMicroTime} from '../../src/bootstrap/timestamp.ts'
import {readKubeadmStatus} from '../../src/control-plane/kubeadm-folders/kubeadm-plane.ts'
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

/** A server of the control plane, as its Lease shows it. */
const lease = (name: string, version: string) => {
  const now = formatMicroTime(systemClock.now())
  const digests = JSON.stringify({CAs: 'aa', servingCIDRs: name})
  return {
    metadata: {
      name,
      namespace: 'kube-system',
      labels: {'kubernetes.io/hostname': `host-${name}`},
      annotations: {
        'trustadm.io/version': version,
        'trustadm.io/digests': digests,
        'trustadm.io/records': 'trustadm-system',
      },
    },
    spec: {holderIdentity: name, leaseDurationSeconds: 3600, acquireTime: now, renewTime: now},
  }
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const SEVERAL = {
  kind: 'LeaseList',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: {resourceVersion: '1'},
  /** Renewed when they are asked for: a run with many files takes longer than a server may be silent. */
  get items() {
    return [lease('one', '1.0.0'), lease('two', '2.0.0')]
  },
}

/** A control plane on an etcd, with something at the address of its load balancer. */
async function behindBalancer(answer: RequestListener) {
  const balancer = createServer(answer)
  await new Promise<void>((resolve) => balancer.listen({host: '127.0.0.1', port: 0}, resolve))
  const {port} = balancer.address() as AddressInfo
  const fixture = await planeFixture({
    etcdServers: ['http://127.0.0.1:1'],
    controlPlaneEndpoint: `127.0.0.1:${port}`,
  })
  await fixture.provide('certs', 'kubeconfig')
  balancer.setSecureContext(await servingPair(fixture.dir))
  return {
    plane: fixture.context.plane,
    async stop() {
      balancer.close()
      await fixture.remove()
    },
  }
}

async function servingPair(dir: string) {
  const pem = (name: string) => readFile(join(dir, 'pki', name))
  const [cert, key] = await Promise.all([pem('apiserver.crt'), pem('apiserver.key')])
  return {cert, key}
}

describe('status', () => {
  it('says why a server is not ready', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const server = createServer(await servingPair(fixture.dir), ({url = ''}, response) => {
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

  it('lists the other servers by the address in admin.conf if its own is stopped', async () => {
    const {plane, stop} = await behindBalancer(({url}, response) => {
      const isWanted = url?.startsWith(LEASES) ?? false
      response.writeHead(isWanted ? 200 : 404, {'content-type': 'application/json'})
      response.end(JSON.stringify(isWanted ? SEVERAL : {}))
    })
    try {
      const {server, servers, differences} = await readStatus(plane, systemClock)
      assert.equal(server.running, false)
      assert.deepEqual(
        servers.map(({hostname, alive}) => [hostname, alive]),
        [
          ['host-one', true],
          ['host-two', true],
        ],
      )
      assert.deepEqual(differences, [
        {name: 'version', values: {one: '1.0.0', two: '2.0.0'}},
        {name: 'servingCIDRs', values: {one: 'one', two: 'two'}},
      ])
      assert.deepEqual(server.problems, [
        'the servers run different versions: 1.0.0 on host-one, 2.0.0 on host-two',
        'the servers have different servingCIDRs',
      ])
    } finally {
      await stop()
    }
  })

  it('says why the other servers cannot be listed', async () => {
    const {plane, stop} = await behindBalancer((_, response) => response.writeHead(403).end('{}'))
    try {
      const {server, servers} = await readStatus(plane, systemClock)
      assert.deepEqual(servers, [])
      assert.match(server.problems.join(), /^cannot list the other servers: /)
    } finally {
      await stop()
    }
  })

  it('says that no server responds, and nothing if there is no admin.conf', async () => {
    const {plane, stop} = await behindBalancer(({socket}) => socket.destroy())
    try {
      const problems = async () => (await readStatus(plane, systemClock)).server.problems
      const address = `https://${plane.settings.controlPlaneEndpoint ?? ''}`
      assert.deepEqual(await problems(), [`no server responds at ${address}`])
      for (const name of ['admin.conf', 'super-admin.conf'])
        await rm(join(plane.dir, name), {force: true})
      assert.deepEqual(await problems(), [])
    } finally {
      await stop()
    }
  })

  it('of a kubeadm control plane that is not ready lists no servers', async () => {
    const asked: string[] = []
    const {plane, stop} = await behindBalancer(({url = ''}, response) => {
      asked.push(url)
      const isVersion = url === '/version'
      response.writeHead(isVersion ? 200 : 500, {'content-type': 'application/json'})
      response.end(isVersion ? '{"gitVersion": "v1"}' : '[-]etcd failed: reason withheld\n')
    })
    try {
      const folders = {certDir: join(plane.dir, 'pki'), kubeconfigDir: plane.dir}
      const {server, servers} = await readKubeadmStatus(folders, systemClock)
      assert.deepEqual([server.running, server.ready, servers], [true, false, []])
      assert.deepEqual(server.checks, [{name: 'etcd', ok: false}])
      assert.equal(server.problems.length, 1)
      assert.deepEqual(asked, ['/version', '/readyz?verbose='])
    } finally {
      await stop()
    }
  })

  it('looks for no others if admin.conf leads to its own server', async () => {
    const fixture = await planeFixture({etcdServers: ['http://127.0.0.1:1']})
    await fixture.provide('certs', 'kubeconfig')
    try {
      const {server} = await readStatus(fixture.context.plane, systemClock)
      assert.deepEqual(server.problems, [])
    } finally {
      await fixture.remove()
    }
  })

  it('warns of an etcd on another machine that is reached without TLS', async () => {
    const fixture = await planeFixture({
      etcdServers: ['http://127.0.0.1:1', 'http://192.0.2.1:2379', 'https://192.0.2.2:2379'],
    })
    await fixture.provide('certs', 'kubeconfig')
    try {
      const {server} = await readStatus(fixture.context.plane, systemClock)
      assert.equal(server.problems.length, 1)
      assert.match(server.problems.join(), /^http:\/\/192\.0\.2\.1:2379 of etcd: .*unencrypted/)
    } finally {
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
