import assert from 'node:assert/strict'
import type {ApiObject, ObjectMeta} from '../../src/api/meta.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {
  garbageCollectorController,
  type OwnershipView,
} from '../../src/controllers/garbage-collector.ts'
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

describe('the garbage collector that knows an object as it was', () => {
  const CONFIG_MAPS = {group: '', version: 'v1', plural: 'configmaps', namespaced: true}
  const reference = (name: string, uid: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid,
  })
  const nobody = reference('gone', 'gone')
  let server: TestServer
  let client: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())

  const create = (name: string, ownerReferences: ReturnType<typeof reference>[] = []) =>
    client.configMaps.create({metadata: {name, namespace: 'default', ownerReferences}})

  /** Collects an object that, as far as is known, belongs to nobody any more. `onRead` is called once it has read the object. */
  async function collect(
    {metadata}: ApiObject,
    onRead?: () => Promise<unknown>,
    more: Partial<OwnershipView> = {},
  ) {
    const {name = '', namespace = '', uid = ''} = metadata
    const known = {resource: CONFIG_MAPS, namespace, name, uid, owners: [nobody]}
    const view = {
      subscribe: () => () => undefined,
      find: () => ({...known, finalizers: [], isDeleting: false}),
      dependentsOf: () => [],
      resourceOf: () => CONFIG_MAPS,
      ...more,
    }
    const objects = client.resource(CONFIG_MAPS)
    const {find} = objects
    objects.find = async (ref, options) => {
      const found = await find.call(objects, ref, options)
      if (found?.metadata.uid === uid) await onRead?.()
      return found
    }
    const writer = {resource: () => objects} as unknown as ApiClient
    const {reconcile} = garbageCollectorController(writer, view)
    await reconcile('id', new AbortController().signal)
  }

  it('keeps one that has got another owner since', async () => {
    const {metadata} = await create('owner')
    const child = await create('adopted', [reference('owner', metadata.uid ?? '')])
    await collect(child)
    assert.ok(await client.configMaps.find('default/adopted'))
  })

  it('keeps one that gets another owner while it looks', async () => {
    const {metadata} = await create('late-owner')
    const child = await create('adopted-late', [nobody])
    const ownerReferences = [reference('late-owner', metadata.uid ?? '')]
    const adopt = {metadata: {ownerReferences}}
    await collect(child, () =>
      client.configMaps.patch('default/adopted-late', adopt, {type: 'merge'}),
    )
    assert.ok(await client.configMaps.find('default/adopted-late'))
  })

  it('orphans also those that it hears of when it reads the owner', async () => {
    const owner = await client.configMaps.create({
      metadata: {name: 'parent', namespace: 'default', finalizers: ['orphan']},
    })
    const child = await create('heir', [reference('parent', owner.metadata.uid ?? '')])
    await client.configMaps.delete('default/parent')
    const ownedOf = ({metadata: {name = '', uid = '', finalizers = []}}: ApiObject) => ({
      ...{resource: CONFIG_MAPS, namespace: 'default', name, uid, finalizers},
      ...{owners: [], isDeleting: true},
    })
    let isKnown = false
    await collect(owner, () => Promise.resolve((isKnown = true)), {
      find: () => ownedOf(owner),
      dependentsOf: () => (isKnown ? [ownedOf(child)] : []),
    })
    assert.equal(await client.configMaps.find('default/parent'), undefined)
    const {ownerReferences} = (await client.configMaps.find('default/heir'))?.metadata ?? {}
    assert.equal(ownerReferences, undefined)
  })

  it('deletes one that belongs to nobody', async () => {
    await collect(await create('alone', [nobody]))
    assert.equal(await client.configMaps.find('default/alone'), undefined)
  })
})
