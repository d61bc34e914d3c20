import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {SIGNERS_LEASE} from '../../src/control-plane/leading.ts'
import {identityOf} from '../../src/control-plane/plane-storage.ts'
import {sleep, systemClock} from '../../src/runtime.ts'
import {describeWithOwnEtcd, startEtcd, type EtcdCluster} from '../helpers/etcd.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const LEASE = {namespace: 'trustadm-system', name: SIGNERS_LEASE}

describeWithOwnEtcd('servers with and without controllers', function () {
  this.timeout(60_000)
  let etcd: EtcdCluster
  const fixtures: PlaneFixture[] = []
  const running: EmbeddedPlane[] = []

  before(async () => {
    etcd = await startEtcd()
  })
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close(0)
    for (const fixture of fixtures.splice(0)) await fixture.remove()
  })
  after(() => etcd.stop())

  async function start(prefix: string, controllers?: string[]) {
    const fixture = await planeFixture({etcdServers: etcd.servers, etcdPrefix: prefix})
    fixtures.push(fixture)
    await fixture.provide('certs', 'kubeconfig')
    const {plane} = fixture.context
    const lines: string[] = []
    const log = (line: string) => void lines.push(line)
    const embedded = await startEmbedded(plane, {clock: systemClock, log, controllers})
    running.push(embedded)
    return {client: embedded.client, identity: identityOf(plane), lines}
  }

  it('leave the Lease to those that have some', async () => {
    const prefix = `/${randomUUID()}`
    const {client, lines} = await start(prefix, [])
    assert.equal(await client.leases.find(LEASE), undefined)
    assert.deepEqual(
      lines.filter((line) => line.startsWith('controllers:')),
      [],
    )
    const other = await start(prefix)
    const holder = (await client.leases.find(LEASE))?.spec?.holderIdentity
    assert.equal(holder, other.identity)
    await client.namespaces.create({metadata: {name: 'fresh'}})
    const account = {namespace: 'fresh', name: 'default'}
    while (!(await client.serviceAccounts.find(account))) await sleep(20)
  })
})
