import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {adminRightsOf} from '../../../src/control-plane/requests/admin-rights.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

const RBAC = 'rbac.authorization.k8s.io'
const spec = {
  request: '',
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['client auth'],
}

describe('groups with cluster-admin rights', () => {
  let server: TestServer
  let client: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    await client.clusterRoleBindings.create({
      metadata: {name: 'ours'},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin'},
      subjects: [
        {apiGroup: RBAC, kind: 'Group', name: 'storage-team'},
        {apiGroup: RBAC, kind: 'User', name: 'ada'},
      ],
    })
  })
  after(() => server.stop())
  const ask = (commonName: string, organizations: string[], more = {}) =>
    adminRightsOf(client, {spec: {...spec, ...more}}, {commonName, organizations})

  it('are found by what RBAC says of them, whatever they are called', async () => {
    assert.deepEqual(await ask('bob', ['readers', 'storage-team', 'system:masters']), [
      {kind: 'group', name: 'storage-team'},
      {kind: 'group', name: 'system:masters'},
    ])
    assert.deepEqual(await ask('ada', ['readers']), [{kind: 'user', name: 'ada'}])
    assert.deepEqual(await ask('bob', ['readers', 'admins']), [])
  })

  it('do not matter in a certificate that is no login', async () => {
    const serving = {signerName: 'kubernetes.io/kubelet-serving', usages: ['server auth']}
    assert.deepEqual(await ask('ada', ['system:masters'], serving), [])
  })
})
