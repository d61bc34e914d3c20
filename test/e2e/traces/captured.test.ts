import assert from 'node:assert/strict'
import {CAPTURED} from './captured.ts'
import {PROTOCOLS, type GoClient} from './go-client.ts'
import {asAdmin, traceCluster} from './trace-cluster.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const OF_KUBECTL = '?fieldManager=kubectl-create&fieldValidation=Strict'

for (const protocol of PROTOCOLS) {
  describe(`bytes that kubectl was seen to send, over ${protocol},`, function () {
    this.timeout(30_000)
    let kubectl: GoClient
    before(async () => {
      kubectl = asAdmin(await traceCluster(), protocol, 'kubectl')
    })
    after(async () => {
      const body = CAPTURED.deleteOptions
      for (const path of [`${NAMESPACE}/configmaps/x`, `${NAMESPACE}/secrets/s`])
        await kubectl.expect(200, {method: 'DELETE', path, body})
      await kubectl.close()
    })

    it('make a ConfigMap', async () => {
      const path = `${NAMESPACE}/configmaps${OF_KUBECTL}`
      const {object} = await kubectl.post(path, CAPTURED.configMap)
      assert.deepEqual(object.data, {a: 'b'})
      assert.equal(object.apiVersion, 'v1')
      // What was sent empty is not there.
      assert.deepEqual(Object.keys(object).sort(), ['apiVersion', 'data', 'kind', 'metadata'])
    })

    it('make a Secret of the default type', async () => {
      const path = `${NAMESPACE}/secrets${OF_KUBECTL}`
      const {object} = await kubectl.post(path, CAPTURED.secret)
      assert.deepEqual(object.data, {a: 'Yg=='})
      assert.equal(object.type, 'Opaque')
    })

    it('ask for tokens of an account', async () => {
      const path = `${NAMESPACE}/serviceaccounts/default/token`
      const long = (await kubectl.post(path, CAPTURED.tokenRequest)).object
      assert.equal(long.kind, 'TokenRequest')
      assert.equal((long.spec as {expirationSeconds: number}).expirationSeconds, 3600)
      const short = (await kubectl.post(path, CAPTURED.shortTokenRequest)).object
      const {audiences, expirationSeconds} = short.spec as Record<string, unknown>
      assert.deepEqual({audiences, expirationSeconds}, {audiences: ['foo'], expirationSeconds: 600})
      for (const {status} of [long, short])
        assert.match((status as {token: string}).token, /^ey[\w-]+\.ey[\w-]+\.[\w-]+$/)
    })

    it('ask who is asking', async () => {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
      const {object} = await kubectl.post(path, CAPTURED.selfSubjectReview)
      const {userInfo} = object.status as {userInfo: {username: string; groups: string[]}}
      assert.equal(userInfo.username, 'kubernetes-admin')
      assert.deepEqual(userInfo.groups, ['kubeadm:cluster-admins', 'system:authenticated'])
    })
  })
}
