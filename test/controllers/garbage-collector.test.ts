import assert from 'node:assert/strict'
import type {ApiObject, ObjectMeta} from '../../src/api/meta.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

describe('the garbage collector', () => {
  let server: TestServer
  let client: ApiClient
  let count = 0
  before(async () => {
    server = await startTestServer()
    client = server.clientAs(ADMIN)
  })
  after(async () => {
    await server.stop()
    assert.deepEqual(server.errors, [])
  })

  const map = async (owners: ApiObject[] = [], more: Partial<ObjectMeta> = {}) => {
    const ownerReferences = owners.map(({metadata: {name = '', uid = ''}}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid,
      blockOwnerDeletion: true,
    }))
    const metadata = {name: `map-${++count}`, namespace: 'default', ownerReferences, ...more}
    return await client.configMaps.create({metadata})
  }
  const find = ({metadata: {name = ''}}: ApiObject) => client.configMaps.find(`default/${name}`)
  const isGone = async (object: ApiObject) => (await find(object)) === undefined
  type Policy = 'Background' | 'Foreground' | 'Orphan'
  const remove = ({metadata: {name = ''}}: ApiObject, propagationPolicy?: Policy) =>
    client.configMaps.delete(`default/${name}`, {propagationPolicy})
  const finalizersOf = async (object: ApiObject) => (await find(object))?.metadata.finalizers ?? []

  for (const policy of ['Background', undefined] as const) {
    it(`deletes what belonged to a deleted object, and what belonged to that: ${policy ?? 'by default'}`, async () => {
      const owner = await map()
      const child = await map([owner])
      const grandchild = await map([child])
      await remove(owner, policy)
      assert.ok(await isGone(owner))
      await until(() => isGone(child))
      await until(() => isGone(grandchild))
    })
  }

  it('keeps an owner in the foreground until its dependents are gone', async () => {
    const owner = await map()
    const child = await map([owner])
    const held = await map([child], {finalizers: ['example.com/hold']})
    await remove(owner, 'Foreground')
    await until(async () => (await find(held))?.metadata.deletionTimestamp !== undefined)
    assert.deepEqual(await finalizersOf(owner), ['foregroundDeletion'])
    assert.deepEqual(await finalizersOf(child), ['foregroundDeletion'])
    const {name = ''} = held.metadata
    const release = {metadata: {finalizers: null}}
    await client.configMaps.patch(`default/${name}`, release, {type: 'merge'})
    for (const object of [held, child, owner]) await until(() => isGone(object))
  })

  it('orphans dependents: they stay, and name the owner no longer', async () => {
    const [owner, other] = [await map(), await map()]
    const child = await map([owner, other])
    await remove(owner, 'Orphan')
    await until(() => isGone(owner))
    const {ownerReferences = []} = (await find(child))?.metadata ?? {}
    assert.deepEqual(
      ownerReferences.map(({uid}) => uid),
      [other.metadata.uid],
    )
  })

  it('keeps what still has an owner, and takes out the one that is gone', async () => {
    const [owner, other] = [await map(), await map()]
    const child = await map([owner, other])
    await remove(owner)
    await until(
      async () => (await find(child))?.metadata.ownerReferences?.[0]?.uid === other.metadata.uid,
    )
    await remove(other)
    await until(() => isGone(child))
  })

  it('deletes what names an owner that never existed, or another of its name', async () => {
    const owner = await map()
    const {name = ''} = owner.metadata
    const wrong = {metadata: {name, uid: 'another'}}
    const child = await map([wrong])
    await until(() => isGone(child))
    assert.ok(await find(owner))
  })

  it('leaves alone what belongs to a kind that is not served', async () => {
    const owner = {apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u'}
    const child = await map([], {ownerReferences: [owner]})
    const marker = await map([{metadata: {name: 'nobody', uid: 'nobody'}}])
    await until(() => isGone(marker))
    assert.ok(await find(child))
  })

  it('ends kubeadm-certs with its token, and a Lease and a CSINode with their Node', async () => {
    const token = await client.secrets.create({
      metadata: {name: 'bootstrap-token-abcdef', namespace: 'kube-system'},
      type: 'bootstrap.kubernetes.io/token',
      stringData: {'token-id': 'abcdef', 'token-secret': 'x8s0vq1zr5mw7cpd'},
    })
    const node = await client.nodes.create({metadata: {name: 'n1'}})
    const owner = (kind: string, {metadata: {name = '', uid = ''}}: ApiObject) => [
      {apiVersion: 'v1', kind, name, uid},
    ]
    await client.secrets.create({
      metadata: {
        name: 'kubeadm-certs',
        namespace: 'kube-system',
        ownerReferences: owner('Secret', token),
      },
    })
    await client.leases.create({
      metadata: {name: 'n1', namespace: 'kube-node-lease', ownerReferences: owner('Node', node)},
      spec: {holderIdentity: 'n1'},
    })
    const csiNodes = client.resource({
      group: 'storage.k8s.io',
      version: 'v1',
      plural: 'csinodes',
      namespaced: false,
    })
    const ofNode = {metadata: {name: 'n1', ownerReferences: owner('Node', node)}}
    await csiNodes.create({...ofNode, spec: {drivers: []}})
    await client.secrets.delete('kube-system/bootstrap-token-abcdef')
    await client.nodes.delete('n1')
    await until(async () => (await client.secrets.find('kube-system/kubeadm-certs')) === undefined)
    await until(async () => (await client.leases.find('kube-node-lease/n1')) === undefined)
    await until(async () => (await csiNodes.find('n1')) === undefined)
  })
})
