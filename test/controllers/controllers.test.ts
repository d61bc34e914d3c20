import assert from 'node:assert/strict'
import type {Taint} from '../../src/api/node.ts'
import type {ClusterRole} from '../../src/api/rbac.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {testAuthority} from '../pki/support.ts'
import {Api, until} from '../server/support.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

describe('controllers', () => {
  let server: TestServer
  let api: Api
  let count = 0

  before(async () => {
    server = await startTestServer()
    api = new Api(server.handler)
  })
  after(async () => {
    await server.stop()
    assert.deepEqual(server.errors, [])
  })

  const namespace = async () => {
    const name = `ns${++count}`
    await api.post('/api/v1/namespaces', {metadata: {name}})
    return {name, path: `/api/v1/namespaces/${name}`}
  }
  const exists = async (path: string) => (await api.get(path)).status === 200
  const appears = (path: string) => until(() => exists(path))
  const vanishes = (path: string) => until(async () => !(await exists(path)))

  it('give every namespace a default service account, again where it is deleted', async () => {
    for (const name of [
      'default',
      'kube-system',
      'kube-public',
      'kube-node-lease',
      'trustadm-system',
    ])
      await appears(`/api/v1/namespaces/${name}/serviceaccounts/default`)
    const {path} = await namespace()
    const account = `${path}/serviceaccounts/default`
    await appears(account)
    const {uid} = (await api.get(account)).body.metadata
    await api.delete(account)
    await until(async () => {
      const {status, body} = await api.get(account)
      return status === 200 && body.metadata.uid !== uid
    })
  })

  it('give every namespace the CA bundle, and put it right where it is changed or deleted', async () => {
    const {path} = await namespace()
    const bundle = `${path}/configmaps/kube-root-ca.crt`
    const isRight = async () => {
      const {status, body} = await api.get(bundle)
      return (
        status === 200 &&
        body.data['ca.crt'] === server.ca &&
        Object.keys(body.data as object).length === 1
      )
    }
    await until(isRight)
    await api.patch(bundle, {data: {'ca.crt': 'another', extra: 'x'}})
    await until(isRight)
    await api.patch(bundle, {binaryData: {more: 'AAAA'}})
    await until(async () => !('binaryData' in (await api.get(bundle)).body))
    await api.patch(bundle, {metadata: {annotations: null}})
    await until(async () => (await api.get(bundle)).body.metadata.annotations !== undefined)
    await api.delete(bundle)
    await until(isRight)
  })

  it('give a new CA bundle to the namespaces that are there', async () => {
    const {path} = await namespace()
    const paths = [path, '/api/v1/namespaces/default', '/api/v1/namespaces/kube-system']
    const have = async (pem: string) => {
      const maps = paths.map((one) => api.get(`${one}/configmaps/kube-root-ca.crt`))
      return (await Promise.all(maps)).every(
        ({status, body}) => status === 200 && body.data['ca.crt'] === pem,
      )
    }
    await until(() => have(server.ca))
    const {pem: next} = await testAuthority({commonName: 'next'})
    await server.setTrust({bundles: {'api-server': bundleOf(server.ca + next)}})
    await until(() => have(server.ca + next))
    await server.setTrust({bundles: {'api-server': bundleOf(server.ca)}})
    await until(() => have(server.ca))
  })

  it('leave other annotations and labels of the bundle alone', async () => {
    const {path} = await namespace()
    const bundle = `${path}/configmaps/kube-root-ca.crt`
    await appears(bundle)
    await api.patch(bundle, {metadata: {labels: {mine: 'yes'}}, data: {'ca.crt': 'another'}})
    await until(async () => (await api.get(bundle)).body.data['ca.crt'] === server.ca)
    assert.deepEqual((await api.get(bundle)).body.metadata.labels, {mine: 'yes'})
  })

  it('empty a namespace that is deleted, of many objects of many kinds, then let it go', async () => {
    const {name, path} = await namespace()
    await appears(`${path}/serviceaccounts/default`)
    await Promise.all(
      Array.from({length: 600}, (_, index) =>
        api.post(`${path}/${index % 2 === 0 ? 'configmaps' : 'secrets'}`, {
          metadata: {name: `o${index}`},
        }),
      ),
    )
    await api.post(`${path}/pods`, {
      metadata: {name: 'p'},
      spec: {containers: [{name: 'c', image: 'i'}]},
    })
    await api.post(`${RBAC}/namespaces/${name}/roles`, {metadata: {name: 'r'}, rules: []})
    await api.post(`/apis/coordination.k8s.io/v1/namespaces/${name}/leases`, {
      metadata: {name: 'l'},
      spec: {},
    })
    await api.post(`/apis/machine.openshift.io/v1beta1/namespaces/${name}/machines`, {
      metadata: {name: 'm'},
    })
    const {body} = await api.delete(path)
    assert.equal(body.status.phase, 'Terminating')
    await vanishes(path)
    for (const kind of ['configmaps', 'secrets', 'pods', 'serviceaccounts'])
      assert.equal((await api.get(`${path}/${kind}`)).body.items.length, 0, kind)
    assert.equal((await api.get(`${RBAC}/namespaces/${name}/roles`)).body.items.length, 0)
  })

  it('wait for the finalizers of what is in a namespace', async () => {
    const {path} = await namespace()
    const held = `${path}/configmaps/held`
    await api.post(`${path}/configmaps`, {metadata: {name: 'held', finalizers: ['example.com/f']}})
    await api.delete(path)
    await until(async () => (await api.get(held)).body.metadata.deletionTimestamp !== undefined)
    assert.equal(await exists(path), true)
    await api.patch(held, {metadata: {finalizers: null}})
    await vanishes(path)
  })

  it('wait for the namespace’s own finalizers', async () => {
    const {path} = await namespace()
    await api.patch(path, {metadata: {finalizers: ['example.com/f']}})
    await api.delete(path)
    await until(async () => {
      const {body} = await api.get(path)
      return (body.spec.finalizers ?? []).length === 0
    })
    await api.patch(path, {metadata: {finalizers: null}})
    await vanishes(path)
  })

  it('fill aggregated roles with the rules of those they select, over several steps', async () => {
    const rulesOf = async (name: string) =>
      ((await api.get(`${RBAC}/clusterroles/${name}`)).body as unknown as ClusterRole).rules ?? []
    await until(async () => (await rulesOf('admin')).length > (await rulesOf('edit')).length)
    const rule = {apiGroups: ['example.com'], resources: ['things'], verbs: ['get']}
    const has = async (name: string) =>
      (await rulesOf(name)).some(({resources}) => resources?.includes('things'))
    await api.post(`${RBAC}/clusterroles`, {
      metadata: {
        name: 'view-things',
        labels: {'rbac.authorization.k8s.io/aggregate-to-view': 'true'},
      },
      rules: [rule],
    })
    for (const name of ['view', 'edit', 'admin']) await until(() => has(name))
    await api.delete(`${RBAC}/clusterroles/view-things`)
    for (const name of ['view', 'edit', 'admin']) await until(async () => !(await has(name)))
  })

  it('put back the rules of an aggregated role that somebody changes', async () => {
    await api.patch(`${RBAC}/clusterroles/view`, {rules: []})
    await until(async () => {
      const {rules} = (await api.get(`${RBAC}/clusterroles/view`)).body
      return ((rules ?? []) as unknown[]).length > 0
    })
  })

  it('keep the taints of a node in step with its Ready condition', async () => {
    const node = '/api/v1/nodes/n1'
    const own = {key: 'mine', effect: 'NoExecute'}
    await api.post('/api/v1/nodes', {metadata: {name: 'n1'}, spec: {taints: [own]}})
    const ready = (status: string) =>
      api.patch(
        `${node}/status`,
        {status: {conditions: [{type: 'Ready', status}]}},
        'strategic-merge',
      )
    const tainted = (...keys: string[]) =>
      until(async () => {
        const {taints = []} = (await api.get(node)).body.spec as {taints?: Taint[]}
        const shown = taints.map(({key, effect}) => `${key}:${effect}`)
        return JSON.stringify(shown.sort()) === JSON.stringify(keys.sort())
      })
    const both = (key: string) => [`${key}:NoSchedule`, `${key}:NoExecute`]
    await ready('False')
    await tainted('mine:NoExecute', ...both('node.kubernetes.io/not-ready'))
    await ready('Unknown')
    await tainted('mine:NoExecute', ...both('node.kubernetes.io/unreachable'))
    await ready('True')
    await tainted('mine:NoExecute')
  })

  it('come to rest: what is right is not written again', async () => {
    const revision = async () => (await api.get('/api/v1/namespaces')).body.metadata.resourceVersion
    // Whatever was written before one of these has been seen once the next is set up.
    const setUp = async () => {
      const before = Number(await revision())
      const {path} = await namespace()
      await appears(`${path}/serviceaccounts/default`)
      await appears(`${path}/configmaps/kube-root-ca.crt`)
      return Number(await revision()) - before
    }
    await until(async () => (await setUp()) === 3)
    assert.deepEqual([await setUp(), await setUp(), await setUp()], [3, 3, 3])
  })
})
