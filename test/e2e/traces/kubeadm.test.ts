import assert from 'node:assert/strict'
import {CAPTURED} from './captured.ts'
import {PROTOCOLS, type GoClient} from './go-client.ts'
import {goProtobuf} from './go-protobuf.ts'
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  CONFIG_MAPS,
  createOrUpdate,
  groups,
  PUBLIC_CONFIG_MAPS,
  readOne,
  SECRETS,
  TIMEOUT,
  tokenSecret,
  user,
} from './kubeadm-objects.ts'
import {asAdmin, asNobody, suffixOf, traceCluster, type TraceCluster} from './trace-cluster.ts'

interface Stored {
  kind: string
  metadata: {name: string; namespace?: string; uid: string; resourceVersion: string}
  data: Record<string, string>
  type: string
  subjects: Record<string, string>[]
}

const stored = ({object}: {object: object}) => object as Stored
const base64 = (text: string) => Buffer.from(text).toString('base64')

for (const protocol of PROTOCOLS) {
  describe(`kubeadm over ${protocol}`, function () {
    this.timeout(30_000)
    const suffix = suffixOf(protocol)
    let cluster: TraceCluster
    let kubeadm: GoClient
    before(async () => {
      cluster = await traceCluster()
      kubeadm = asAdmin(cluster, protocol, 'kubeadm')
    })
    after(() => kubeadm.close())

    describe('token', () => {
      const id = `kadm${suffix}`
      const path = `${SECRETS}/bootstrap-token-${id}${TIMEOUT}`

      it('create finds that there is none, and makes one', async () => {
        const missing = await kubeadm.get(path, 404)
        assert.equal(missing.object.reason, 'NotFound')
        const body = tokenSecret(id, 'x8s0vq1zr5mw7cpd', {
          description: 'for rack 7',
          expiration: '2100-01-01T00:00:00Z',
        })
        const {kind, type, data, metadata} = stored(
          await kubeadm.post(`${SECRETS}${TIMEOUT}`, body),
        )
        assert.equal(kind, 'Secret')
        assert.equal(type, 'bootstrap.kubernetes.io/token')
        assert.equal(metadata.name, `bootstrap-token-${id}`)
        assert.deepEqual(data, {
          'auth-extra-groups': base64('system:bootstrappers:kubeadm:default-node-token'),
          description: base64('for rack 7'),
          expiration: base64('2100-01-01T00:00:00Z'),
          'token-id': base64(id),
          'token-secret': base64('x8s0vq1zr5mw7cpd'),
          'usage-bootstrap-authentication': base64('true'),
          'usage-bootstrap-signing': base64('true'),
        })
        assert.equal((await kubeadm.get(path)).object.kind, 'Secret')
      })

      it('list asks for Secrets of that type alone', async () => {
        const {object} = await kubeadm.get(
          `${SECRETS}?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken`,
        )
        const {kind, items} = object as unknown as {kind: string; items: Stored[]}
        assert.equal(kind, 'SecretList')
        assert.ok(items.some(({metadata}) => metadata.name === `bootstrap-token-${id}`))
        assert.ok(items.every(({type}) => type === 'bootstrap.kubernetes.io/token'))
        assert.ok(items.every(({data}) => data['token-secret']))
      })

      it('delete sends empty options, and is told what is gone', async () => {
        const {metadata} = stored(await kubeadm.get(path))
        const body = CAPTURED.deleteOptions
        const {object} = await kubeadm.expect(200, {method: 'DELETE', path, body})
        assert.equal(object.status, 'Success')
        const details = {name: metadata.name, kind: 'secrets', uid: metadata.uid}
        assert.deepEqual(object.details, details)
        const again = await kubeadm.expect(404, {method: 'DELETE', path, body})
        assert.equal(again.object.reason, 'NotFound')
      })
    })

    describe('init phase upload-config', () => {
      it('kubeadm finds its configuration there, changes and replaces it', async () => {
        const before = stored(await kubeadm.get(`${CONFIG_MAPS}/kubeadm-config${TIMEOUT}`))
        const {body} = configMap('kube-system', 'kubeadm-config', before.data)
        const {object} = await kubeadm.post(`${CONFIG_MAPS}${TIMEOUT}`, body, 409)
        assert.equal(object.reason, 'AlreadyExists')

        const {uid, resourceVersion} = before.metadata
        const path = `${CONFIG_MAPS}/kubeadm-config${TIMEOUT}`
        const metadata = {uid, resourceVersion, labels: {trace: suffix}}
        const changed = configMap('kube-system', 'kubeadm-config', before.data, metadata)
        const after = stored(await kubeadm.put(path, changed.body))
        assert.deepEqual(after.data, before.data)
        assert.notEqual(after.metadata.resourceVersion, resourceVersion)
        // A second writer with the old revision has to read again.
        const late = await kubeadm.put(path, changed.body, 409)
        assert.equal(late.object.reason, 'Conflict')
      })

      it('kubelet replaces its configuration without a revision', async () => {
        const {data} = stored(await kubeadm.get(`${CONFIG_MAPS}/kubelet-config${TIMEOUT}`))
        const annotations = {'kubeadm.kubernetes.io/component-config.hash': `sha256:${suffix}`}
        const wanted = configMap('kube-system', 'kubelet-config', data, {annotations})
        const {object, status} = await createOrUpdate(kubeadm, wanted)
        assert.equal(status, 200)
        assert.deepEqual((object.metadata as {annotations: unknown}).annotations, annotations)
      })

      it('finds the roles of both there, and the groups of their subjects filled in', async () => {
        const {bootstrappers, nodes} = groups
        for (const wanted of [
          ...readOne(
            'kube-system',
            'kubeadm:nodes-kubeadm-config',
            ['configmaps', 'kubeadm-config'],
            [bootstrappers, nodes],
          ),
          ...readOne(
            'kube-system',
            'kubeadm:kubelet-config',
            ['configmaps', 'kubelet-config'],
            [nodes, bootstrappers],
          ),
        ]) {
          const answer = await createOrUpdate(kubeadm, wanted)
          assert.equal(answer.status, 200, wanted.name)
          for (const subject of stored(answer).subjects ?? [])
            assert.equal(subject.apiGroup, 'rbac.authorization.k8s.io')
        }
      })
    })

    describe('init phase bootstrap-token', () => {
      const id = `kini${suffix}`

      it('makes its token and the roles of machines that join', async () => {
        await kubeadm.get(`${SECRETS}/bootstrap-token-${id}${TIMEOUT}`, 404)
        await kubeadm.post(`${SECRETS}${TIMEOUT}`, tokenSecret(id, 'c7wq0z2mlv9rk4tx'))
        const {bootstrappers, nodes} = groups
        const requests = 'system:certificates.k8s.io:certificatesigningrequests'
        const bindings = [
          clusterRole('kubeadm:get-nodes', [
            {verbs: ['get'], apiGroups: [''], resources: ['nodes']},
          ]),
          clusterRoleBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrappers),
          clusterRoleBinding(
            'kubeadm:kubelet-bootstrap',
            'system:node-bootstrapper',
            bootstrappers,
          ),
          clusterRoleBinding(
            'kubeadm:node-autoapprove-bootstrap',
            `${requests}:nodeclient`,
            bootstrappers,
          ),
          clusterRoleBinding(
            'kubeadm:node-autoapprove-certificate-rotation',
            `${requests}:selfnodeclient`,
            nodes,
          ),
          clusterRoleBinding(
            'kubeadm:apiserver-kubelet-client',
            'system:kubelet-api-admin',
            user('kube-apiserver-kubelet-client'),
          ),
          ...readOne(
            'kube-public',
            'kubeadm:bootstrap-signer-clusterinfo',
            ['configmaps', 'cluster-info'],
            [user('system:anonymous')],
          ),
        ]
        for (const wanted of bindings) await createOrUpdate(kubeadm, wanted)
      })

      it('replaces cluster-info, which is signed again by every token', async () => {
        const path = `${PUBLIC_CONFIG_MAPS}/cluster-info`
        const watch = await kubeadm.watch(
          `${PUBLIC_CONFIG_MAPS}?fieldSelector=metadata.name%3Dcluster-info&watch=true`,
        )
        try {
          const {data} = stored(await kubeadm.get(`${path}${TIMEOUT}`))
          const {body, ...where} = configMap('kube-public', 'cluster-info', {
            kubeconfig: data.kubeconfig ?? '',
          })
          const {metadata} = stored(await createOrUpdate(kubeadm, {body, ...where}))
          const signed = await watch.find(
            ({object}) =>
              Number(object.metadata.resourceVersion) > Number(metadata.resourceVersion) &&
              `jws-kubeconfig-${id}` in (object.data as object),
          )
          assert.equal((signed.object.data as Stored['data']).kubeconfig, data.kubeconfig)
        } finally {
          watch.close()
        }
      })
    })

    it('init phase upload-certs owns the certificates by a token that ends them', async () => {
      const id = `kcrt${suffix}`
      const path = `${SECRETS}/bootstrap-token-${id}${TIMEOUT}`
      await kubeadm.get(path, 404)
      const description = 'Proxy for managing TTL for the kubeadm-certs secret'
      const proxy = tokenSecret(id, 'd8zr2v0mqw5lk1tx', {
        description,
        expiration: '2100-01-01T02:00:00Z',
      })
      await kubeadm.post(`${SECRETS}${TIMEOUT}`, proxy)
      const {metadata} = stored(await kubeadm.get(path))
      const owner = {
        apiVersion: 'v1',
        kind: 'Secret',
        name: metadata.name,
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      }
      const name = 'kubeadm-certs'
      const body = goProtobuf('v1', 'Secret', {
        metadata: {name, namespace: 'kube-system', ownerReferences: [owner]},
        // Ciphertext: no text in any encoding.
        data: {'ca.crt': Buffer.from('00ff80c3', 'hex'), 'ca.key': Buffer.from('fe00', 'hex')},
      })
      const {object} = await createOrUpdate(kubeadm, {collection: SECRETS, name, body})
      assert.deepEqual(object.data, {'ca.crt': 'AP+Aww==', 'ca.key': '/gA='})
      assert.deepEqual((object.metadata as {ownerReferences: unknown}).ownerReferences, [owner])
      for (const wanted of readOne(
        'kube-system',
        'kubeadm:kubeadm-certs',
        ['secrets', 'kubeadm-certs'],
        [groups.bootstrappers],
      ))
        await createOrUpdate(kubeadm, wanted)

      // A control plane that joins fetches them by its token.
      const bearer = `${id}.d8zr2v0mqw5lk1tx`
      const joining = asNobody(cluster, protocol, 'kubeadm').with({ca: cluster.ca, bearer})
      try {
        const read = await joining.get(`${SECRETS}/${name}${TIMEOUT}`)
        assert.deepEqual(read.object.data, object.data)
      } finally {
        await joining.close()
      }
    })

    it('init phase mark-control-plane labels and taints the node of its machine', async () => {
      const name = `kubeadm-trace-${suffix}`
      const labels = {'kubernetes.io/hostname': name}
      const node = goProtobuf('v1', 'Node', {metadata: {name, labels}})
      await kubeadm.post(`/api/v1/nodes${TIMEOUT}`, node)
      const path = `/api/v1/nodes/${name}${TIMEOUT}`
      assert.deepEqual(
        ((await kubeadm.get(path)).object.metadata as {labels: unknown}).labels,
        labels,
      )
      const taint = {key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule'}
      const notReady = {key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule'}
      const patch = {
        metadata: {
          labels: {
            'node-role.kubernetes.io/control-plane': '',
            'node.kubernetes.io/exclude-from-external-load-balancers': '',
          },
        },
        spec: {taints: [taint, notReady]},
      }
      const {object} = await kubeadm.expect(200, {
        method: 'PATCH',
        path,
        type: 'application/strategic-merge-patch+json',
        body: Buffer.from(JSON.stringify(patch)),
      })
      const after = object as {metadata: {labels: object}; spec: {taints: object[]}}
      assert.deepEqual(after.metadata.labels, {...labels, ...patch.metadata.labels})
      assert.deepEqual(after.spec.taints, [taint, notReady])
      const body = CAPTURED.deleteOptions
      await kubeadm.expect(200, {method: 'DELETE', path, body})
    })

    it('finds by admin.conf that its administrators are bound already', async () => {
      const {collection, body} = clusterRoleBinding(
        'kubeadm:cluster-admins',
        'cluster-admin',
        groups.group('kubeadm:cluster-admins'),
      )
      const {object} = await kubeadm.post(`${collection}${TIMEOUT}`, body, 409)
      assert.equal(object.reason, 'AlreadyExists')
    })
  })
}
