import assert from 'node:assert/strict'
import {createPrivateKey, X509Certificate} from 'node:crypto'
import {CAPTURED} from './captured.ts'
import {PROTOCOLS, type GoClient} from './go-client.ts'
import {
  askWithManager,
  bootstrapKubelet,
  waitForCertificate,
  type Issued,
  type StoredRequest,
} from './kubelet-bootstrap.ts'
import {
  CLIENT_SIGNER,
  nodeRequest,
  requestBody,
  REQUESTS,
  type NodeRequest,
} from './kubelet-objects.ts'
import {asNobody, suffixOf, traceCluster, type TraceCluster} from './trace-cluster.ts'

const SELF_REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

for (const protocol of PROTOCOLS) {
  describe(`a kubelet's TLS bootstrap over ${protocol}`, function () {
    this.timeout(30_000)
    const suffix = suffixOf(protocol)
    const id = `kubl${suffix}`
    let cluster: TraceCluster
    let kubelet: GoClient
    before(async () => {
      cluster = await traceCluster()
      kubelet = await bootstrapKubelet(cluster, protocol, id)
    })
    after(() => kubelet.close())

    /** The certificate is for this key and this node alone, and the server knows its holder by it. */
    async function assertIdentity(
      {certificate}: Issued,
      {key}: NodeRequest,
      node: string,
    ): Promise<void> {
      const parsed = new X509Certificate(certificate)
      assert.equal(parsed.subject, `O=system:nodes\nCN=system:node:${node}`)
      assert.equal(parsed.subjectAltName, undefined)
      assert.deepEqual(parsed.keyUsage, [CLIENT_AUTH])
      assert.ok(parsed.verify(new X509Certificate(cluster.ca).publicKey))
      assert.ok(parsed.checkPrivateKey(createPrivateKey(key)))
      const self = asNobody(cluster, protocol, 'kubelet').with({
        ca: cluster.ca,
        credentials: {certificate, key},
      })
      try {
        const {object} = await self.post(SELF_REVIEWS, CAPTURED.selfSubjectReview)
        const {userInfo} = object.status as {userInfo: {username: string; groups: string[]}}
        assert.equal(userInfo.username, `system:node:${node}`)
        assert.deepEqual(userInfo.groups, ['system:nodes', 'system:authenticated'])
      } finally {
        await self.close()
      }
    }

    it('finds a healthy server', async () => {
      const {text, type} = await kubelet.get('/healthz?timeout=1s')
      assert.equal(text, 'ok')
      assert.match(type, /^text\/plain/)
    })

    it('gets a certificate for a request that is named after its key', async () => {
      const node = `named-${suffix}`
      const asked = await nodeRequest(node)
      const body = requestBody({name: asked.name}, asked)
      const created = (await kubelet.post(REQUESTS, body)).object as unknown as StoredRequest
      assert.equal(created.metadata.name, asked.name)
      assert.equal(created.spec.request, Buffer.from(asked.request).toString('base64'))
      assert.equal(created.spec.signerName, CLIENT_SIGNER)
      assert.deepEqual(created.spec.usages, ['digital signature', 'client auth'])
      assert.equal(created.spec.username, `system:bootstrap:${id}`)
      assert.deepEqual(created.spec.groups, [
        'system:bootstrappers',
        'system:bootstrappers:kubeadm:default-node-token',
        'system:authenticated',
      ])
      assert.deepEqual(created.status, {})
      await assertIdentity(await waitForCertificate(kubelet, asked.name), asked, node)
    })

    it('takes its request up again after it was stopped in between', async () => {
      const node = `again-${suffix}`
      const asked = await nodeRequest(node)
      const body = requestBody({name: asked.name}, asked)
      await kubelet.post(REQUESTS, body)
      const {object} = await kubelet.post(REQUESTS, body, 409)
      assert.equal(object.reason, 'AlreadyExists')
      const found = await kubelet.get(`${REQUESTS}/${asked.name}`)
      const {spec} = found.object as unknown as StoredRequest
      assert.equal(Buffer.from(spec.request, 'base64').toString(), asked.request)
      assert.equal(spec.signerName, CLIENT_SIGNER)
      await assertIdentity(await waitForCertificate(kubelet, asked.name), asked, node)
    })

    it('gets one by its certificate manager, and the next one by the first', async () => {
      const node = `managed-${suffix}`
      const first = await nodeRequest(node)
      const issued = await askWithManager(kubelet, first)
      assert.match(issued.message, /^Auto approving kubelet client certificate/)
      await assertIdentity(issued, first, node)

      const credentials = {certificate: issued.certificate, key: first.key}
      const self = asNobody(cluster, protocol, 'kubelet').with({ca: cluster.ca, credentials})
      try {
        const second = await nodeRequest(node)
        const renewed = await askWithManager(self, second)
        assert.match(renewed.message, /^Auto approving self kubelet client certificate/)
        await assertIdentity(renewed, second, node)
      } finally {
        await self.close()
      }
    })

    it('gets none by a token that is not there', async () => {
      const stranger = kubelet.with({bearer: 'nobody.p4wz8k0vq6mxr2lt'})
      try {
        const asked = await nodeRequest(`stranger-${suffix}`)
        const body = requestBody({name: asked.name}, asked)
        const {object} = await stranger.post(REQUESTS, body, 401)
        assert.equal(object.reason, 'Unauthorized')
      } finally {
        await stranger.close()
      }
    })
  })
}
