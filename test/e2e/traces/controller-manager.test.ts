import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {fromJson} from './from-json.ts'
import {GoClient, PROTOBUF, PROTOCOLS, TYPED, type Answer} from './go-client.ts'
import {goProtobuf, type Message} from './go-protobuf.ts'
import {configMap, CONFIG_MAPS, SECRETS, tokenSecret} from './kubeadm-objects.ts'
import {nodeRequest, requestBody, REQUESTS, watchList} from './kubelet-objects.ts'
import {suffixOf} from './trace-cluster.ts'

const ACCOUNTS = '/api/v1/namespaces/kube-system/serviceaccounts'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const ACCEPT = `${PROTOBUF}, */*`
const AGENT = 'kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/1a2b3c4'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
/** What metadata clients accept. */
const METADATA = [PROTOBUF, 'application/json']
  .map((type) => `${type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`)
  .concat('application/json')
  .join(',')

const CONTROLLERS = [
  'certificate-controller',
  'bootstrap-signer',
  'token-cleaner',
  'service-account-controller',
  'root-ca-cert-publisher',
  'namespace-controller',
  'generic-garbage-collector',
  'clusterrole-aggregation-controller',
] as const
type Controller = (typeof CONTROLLERS)[number]

const metadataOf = ({object}: Answer) =>
  object.metadata as {name: string; uid: string; resourceVersion: string}
const NOW = new Date('2026-06-01T12:00:00.250Z')

for (const protocol of PROTOCOLS) {
  describe(`kube-controller-manager over ${protocol}`, function () {
    this.timeout(30_000)
    const suffix = suffixOf(protocol)
    let server: TestServer
    let manager: GoClient
    let admin: GoClient
    const controllers = new Map<Controller, GoClient>()
    // The server has no controllers of its own here: these are the ones.
    before(async () => {
      server = await startTestServer({controllers: false})
      const as = async (name: string, groups: string[]) =>
        new GoClient({
          server: server.url,
          protocol,
          userAgent: AGENT,
          accept: ACCEPT,
          ca: server.ca,
          credentials: await server.credentialsFor(name, groups),
        })
      manager = await as('system:kube-controller-manager', [])
      admin = await as('admin', ['system:masters'])
    })
    after(async () => {
      await Promise.all([manager, admin, ...controllers.values()].map((client) => client.close()))
      await server.stop()
    })

    const as = (name: Controller): GoClient => {
      const client = controllers.get(name)
      assert.ok(client, `no credentials for ${name}`)
      return client
    }

    it('finds a healthy server and what it serves', async () => {
      assert.equal((await manager.get('/healthz')).text, 'ok')
      for (const path of ['/api', '/apis']) {
        const accept = `${AGGREGATED},application/json`
        const {object, type} = await manager.expect(200, {method: 'GET', path, accept})
        assert.equal(object.kind, 'APIGroupDiscoveryList')
        assert.match(type, /as=APIGroupDiscoveryList/)
        const legacy = await manager.expect(200, {method: 'GET', path, accept: ACCEPT})
        assert.match(legacy.object.kind as string, /^API(Versions|GroupList)$/)
      }
      for (const version of ['/api/v1', '/apis/certificates.k8s.io/v1'])
        assert.equal((await manager.get(version)).object.kind, 'APIResourceList')
    })

    it('learns which client authorities the server trusts', async () => {
      const name = 'extension-apiserver-authentication'
      const path = `${CONFIG_MAPS}/${name}`
      const {object} = await manager.expect(200, {method: 'GET', path, accept: TYPED})
      assert.equal((object.data as Record<string, string>)['client-ca-file'], server.ca)
      const watch = await manager.watch(watchList(CONFIG_MAPS, `metadata.name=${name}`))
      assert.equal((await watch.initialEvents()).length, 1)
      watch.close()
    })

    it('becomes the leader', async () => {
      const name = 'kube-controller-manager'
      await manager.get(`${LEASES}/${name}?timeout=5s`, 404)
      const lease = (spec: Message, metadata: Message = {}) =>
        goProtobuf('coordination.k8s.io/v1', 'Lease', {
          metadata: {name, namespace: 'kube-system', ...metadata},
          spec: {holderIdentity: 'host_1', leaseDurationSeconds: 15, leaseTransitions: 0, ...spec},
        })
      const times = {acquireTime: NOW, renewTime: NOW}
      const made = await manager.post(`${LEASES}?timeout=5s`, lease(times))
      assert.deepEqual(made.object.spec, {
        holderIdentity: 'host_1',
        leaseDurationSeconds: 15,
        acquireTime: '2026-06-01T12:00:00.250000Z',
        renewTime: '2026-06-01T12:00:00.250000Z',
        leaseTransitions: 0,
      })
      const {uid, resourceVersion} = metadataOf(made)
      await manager.put(`${LEASES}/${name}?timeout=5s`, lease(times, {uid, resourceVersion}))
      await manager.put(`${LEASES}/${name}?timeout=5s`, lease(times), 422)
    })

    it('gets a token for the account of each controller', async () => {
      for (const name of CONTROLLERS) {
        await manager.get(`${ACCOUNTS}/${name}`, 404)
        await manager.get('/api/v1/namespaces/kube-system')
        const metadata = {name, namespace: 'kube-system'}
        await manager.post(ACCOUNTS, goProtobuf('v1', 'ServiceAccount', {metadata}))
        const body = goProtobuf('authentication.k8s.io/v1', 'TokenRequest', {
          spec: {expirationSeconds: 3600},
        })
        const {object} = await manager.post(`${ACCOUNTS}/${name}/token`, body)
        const {spec, status} = object as {
          spec: {expirationSeconds?: number}
          status: {token: string; expirationTimestamp: string}
        }
        assert.equal(spec.expirationSeconds, 3600)
        assert.ok(Number.isFinite(Date.parse(status.expirationTimestamp)))
        controllers.set(
          name,
          new GoClient({
            server: server.url,
            protocol,
            userAgent: `${AGENT}/system:serviceaccount:kube-system:${name}`,
            accept: ACCEPT,
            ca: server.ca,
            bearer: status.token,
          }),
        )
      }
    })

    it('fills its informers', async () => {
      for (const collection of [
        REQUESTS,
        '/api/v1/configmaps',
        '/api/v1/secrets',
        '/api/v1/namespaces',
        '/api/v1/serviceaccounts',
      ]) {
        const watch = await manager.watch(watchList(collection))
        for (const {type} of await watch.initialEvents()) assert.equal(type, 'ADDED')
        watch.close()
      }
    })

    describe('certificate-controller', () => {
      const name = `trace-${suffix}`
      const path = `${REQUESTS}/${name}`
      /** What the informer of requests holds; nobody here may get a single one. */
      const cached = async (wanted: string) => {
        const watch = await manager.watch(watchList(REQUESTS))
        const events = await watch.initialEvents()
        watch.close()
        const found = events.find(({object}) => object.metadata.name === wanted)
        assert.ok(found)
        return found.object as unknown as {spec: Message}
      }
      const changed = (object: object, status: Message) =>
        goProtobuf('certificates.k8s.io/v1', 'CertificateSigningRequest', {
          ...fromJson('CertificateSigningRequest', object),
          status,
        })
      const approval = {
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      }
      let certificate = Buffer.alloc(0)
      before(async () => {
        certificate = Buffer.from((await server.credentialsFor('x', [])).certificate)
        await admin.post(REQUESTS, requestBody({name}, await nodeRequest('trace')))
      })

      it('asks whether who asks may be approved', async () => {
        const {spec} = await cached(name)
        const {object} = await as('certificate-controller').post(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          goProtobuf('authorization.k8s.io/v1', 'SubjectAccessReview', {
            spec: {
              user: spec.username,
              groups: spec.groups,
              extra: spec.extra,
              resourceAttributes: {
                group: 'certificates.k8s.io',
                version: '*',
                resource: 'certificatesigningrequests',
                subresource: 'nodeclient',
                verb: 'create',
              },
            },
          }),
        )
        assert.equal((object.status as {allowed: boolean}).allowed, true)
      })

      it('approves it', async () => {
        const object = await cached(name)
        const body = changed(object, {conditions: [approval]})
        const after = await as('certificate-controller').put(`${path}/approval`, body)
        const [condition] = (after.object.status as {conditions: Message[]}).conditions
        assert.equal(condition?.reason, 'AutoApproved')
        assert.match(condition.lastUpdateTime as string, /Z$/)
        assert.deepEqual((after.object as {spec: object}).spec, object.spec)
      })

      it('does not sign it as the user of all controllers, who may not', async () => {
        const body = changed(await cached(name), {conditions: [approval], certificate})
        await manager.put(`${path}/status`, body, 403)
      })

      it('signs it', async () => {
        const body = changed(await cached(name), {conditions: [approval], certificate})
        const after = await as('certificate-controller').put(`${path}/status`, body)
        const {status} = after.object as {status: {certificate: string}}
        assert.equal(status.certificate, certificate.toString('base64'))
      })

      it('tells that it cannot sign another', async () => {
        const other = `failed-${suffix}`
        await admin.post(REQUESTS, requestBody({name: other}, await nodeRequest('failed')))
        const object = await cached(other)
        const failure = {
          type: 'Failed',
          status: 'True',
          reason: 'SignerValidationFailure',
          message: 'organization is not system:nodes',
        }
        const body = changed(object, {conditions: [failure]})
        const after = await as('certificate-controller').put(`${REQUESTS}/${other}/status`, body)
        const [condition] = (after.object.status as {conditions: Message[]}).conditions
        assert.equal(condition?.type, 'Failed')
      })

      it('cleans it away', async () => {
        const body = goProtobuf('v1', 'DeleteOptions')
        const {object} = await as('certificate-controller').expect(200, {
          method: 'DELETE',
          path,
          body,
        })
        assert.equal(object.status, 'Success')
      })
    })

    it('bootstrap-signer signs cluster-info', async () => {
      const wanted = configMap('kube-public', 'cluster-info', {kubeconfig: 'kind: Config\n'})
      const {object} = await admin.post(wanted.collection, wanted.body)
      const data = {kubeconfig: 'kind: Config\n', 'jws-kubeconfig-abcdef': 'a..b'}
      const body = goProtobuf('v1', 'ConfigMap', {...fromJson('ConfigMap', object), data})
      const path = `${wanted.collection}/cluster-info`
      const after = await as('bootstrap-signer').put(path, body)
      assert.deepEqual(after.object.data, data)
    })

    it('token-cleaner deletes the Secret it has read, and no later one of its name', async () => {
      const id = `kcmt${suffix}`
      const {uid} = metadataOf(await admin.post(SECRETS, tokenSecret(id, 'x8s0vq1zr5mw7cpd')))
      const cleaner = as('token-cleaner')
      const deletion = (preconditions: Message) => ({
        method: 'DELETE',
        path: `${SECRETS}/bootstrap-token-${id}`,
        body: goProtobuf('v1', 'DeleteOptions', {preconditions}),
      })
      const {object} = await cleaner.expect(409, deletion({uid: 'another'}))
      assert.equal(object.reason, 'Conflict')
      await cleaner.expect(200, deletion({uid}))
    })

    it('makes the account and the CA bundle of a namespace, and empties it in the end', async () => {
      const name = `kcm-${suffix}`
      const namespace = `/api/v1/namespaces/${name}`
      await admin.post('/api/v1/namespaces', goProtobuf('v1', 'Namespace', {metadata: {name}}))
      const account = goProtobuf('v1', 'ServiceAccount', {
        metadata: {name: 'default', namespace: name},
      })
      await as('service-account-controller').post(`${namespace}/serviceaccounts`, account)
      const bundle = configMap(name, 'kube-root-ca.crt', {'ca.crt': server.ca})
      await as('root-ca-cert-publisher').post(bundle.collection, bundle.body)

      const body = goProtobuf('v1', 'DeleteOptions')
      await admin.expect(200, {method: 'DELETE', path: namespace, body})
      const cleaner = as('namespace-controller')
      for (const resource of ['configmaps', 'serviceaccounts']) {
        const path = `${namespace}/${resource}`
        const before = await cleaner.expect(200, {method: 'GET', path, accept: METADATA})
        assert.equal(before.object.kind, 'PartialObjectMetadataList')
        assert.equal((before.object.items as unknown[]).length, 1)
        await cleaner.expect(200, {
          method: 'DELETE',
          path,
          accept: METADATA,
          type: 'application/json',
          body: Buffer.from(
            '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}',
          ),
        })
        const after = await cleaner.expect(200, {method: 'GET', path, accept: METADATA})
        assert.deepEqual(after.object.items, [])
      }
      const {object} = await cleaner.get(namespace)
      const finalized = {...fromJson('Namespace', object), spec: {finalizers: []}}
      await cleaner.put(`${namespace}/finalize`, goProtobuf('v1', 'Namespace', finalized))
      await cleaner.get(namespace, 404)
    })

    it('tells an event', async () => {
      const {object} = await manager.post(
        '/api/v1/namespaces/default/events',
        goProtobuf('v1', 'Event', {
          metadata: {name: `kcm.${suffix}`, namespace: 'default'},
          involvedObject: {kind: 'Node', name: 'n1'},
          reason: 'RegisteredNode',
          message: 'registered',
          source: {component: 'node-controller'},
          firstTimestamp: NOW,
          lastTimestamp: NOW,
          count: 1,
          type: 'Normal',
        }),
      )
      assert.equal(object.reason, 'RegisteredNode')
    })
  })
}
