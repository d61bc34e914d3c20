import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {clusterInfoConfigMap, jwsKey} from '../../src/bootstrap/cluster-info.ts'
import {generateToken} from '../../src/bootstrap/generate-token.ts'
import {formatToken} from '../../src/bootstrap/token.ts'
import {discover} from '../../src/discovery/discover.ts'
import {refreshClusterInfo} from '../../src/discovery/refresh.ts'
import {independentJws} from '../helpers/jws.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {useTemporaryFolder} from '../pki/support.ts'
import {ONCE, pinOfPem} from './support.ts'

const NAME = 'kubeadm:bootstrap-signer-clusterinfo'
const API_GROUP = 'rbac.authorization.k8s.io'
const metadata = {name: NAME, namespace: 'kube-public'}

describe('discovery from our own server', () => {
  const folder = useTemporaryFolder()
  const token = generateToken()
  let server: TestServer
  let admin: ApiClient
  let endpoint: string
  let kubeconfig: string

  before(async () => {
    // The test signs by itself: a signer would take away what a token without a Secret has signed.
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    endpoint = `127.0.0.1:${server.port}`
  })
  after(() => server.stop())

  const byToken = (caCertHashes = [pinOfPem(server.ca)]) =>
    discover(
      {
        token: formatToken(token),
        endpoints: [endpoint],
        caCertHashes,
        unsafeSkipCaVerification: caCertHashes.length === 0,
      },
      ONCE,
    )

  it('is refused while strangers may not read cluster-info', async () => {
    await assert.rejects(byToken(), {code: 'CLUSTER_INFO_FORBIDDEN'})
    const file = join(folder(), 'cluster.yaml')
    const map = clusterInfoConfigMap({server: server.url, ca: server.ca})
    await writeFile(file, map.data?.kubeconfig ?? '')
    const {ca, warnings} = await discover({file}, ONCE)
    assert.equal(ca, server.ca)
    assert.equal(warnings.length, 1)
  })

  it('is refused while there is no cluster-info', async () => {
    await admin.roles.create({
      apiVersion: `${API_GROUP}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        {
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: ['cluster-info'],
          verbs: ['get'],
        },
      ],
    })
    await admin.roleBindings.create({
      apiVersion: `${API_GROUP}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: {apiGroup: API_GROUP, kind: 'Role', name: NAME},
      subjects: [{apiGroup: API_GROUP, kind: 'User', name: 'system:anonymous'}],
    })
    await assert.rejects(byToken(), {code: 'CLUSTER_INFO_MISSING'})
  })

  it('is refused while no token has signed it', async () => {
    const map = clusterInfoConfigMap({server: server.url, ca: server.ca})
    kubeconfig = map.data?.kubeconfig ?? ''
    await admin.configMaps.create(map)
    await assert.rejects(byToken(), {code: 'SIGNATURE_MISSING'})
  })

  it('trusts what the token has signed, with a pin and without', async () => {
    await admin.configMaps.patch(
      {name: 'cluster-info', namespace: 'kube-public'},
      {data: {[jwsKey(token.id)]: independentJws(kubeconfig, token)}},
      {type: 'merge'},
    )
    const pinned = await byToken()
    assert.deepEqual(pinned, {
      server: server.url,
      ca: server.ca,
      endpoints: [],
      kubeconfig,
      pins: [pinOfPem(server.ca)],
      source: 'token',
      warnings: [],
    })
    const {warnings, ...unpinned} = await byToken([])
    assert.deepEqual({...unpinned, warnings: []}, pinned)
    assert.match(warnings.join(), new RegExp(pinOfPem(server.ca)))
  })

  it('trusts a file, and refreshes what it found', async () => {
    const file = join(folder(), 'cluster.yaml')
    await writeFile(file, kubeconfig)
    const info = await discover({file}, ONCE)
    assert.deepEqual([info.ca, info.kubeconfig, info.warnings], [server.ca, kubeconfig, []])
    const {changed, problem} = await refreshClusterInfo(info, ONCE)
    assert.deepEqual([changed, problem], [false, undefined])
  })
})
