import assert from 'node:assert/strict'
import {createHmac} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import {parse} from 'yaml'
import {PROTOCOLS, type GoClient} from './go-client.ts'
import {CONFIG_MAPS, PUBLIC_CONFIG_MAPS, SECRETS, TIMEOUT, tokenSecret} from './kubeadm-objects.ts'
import {asAdmin, asNobody, pinOf, suffixOf, traceCluster} from './trace-cluster.ts'

const SECRET = 'w3k9zq0v5mxr7ltd'
const CLUSTER_INFO = `${PUBLIC_CONFIG_MAPS}/cluster-info${TIMEOUT}`
/** How often kubeadm asks for kube-proxy's configuration before it goes on without. */
const ATTEMPTS = 7
const PATIENCE = 5000

interface ClusterInfo {
  clusters: {name: string; cluster: {server: string; 'certificate-authority-data': string}}[]
}

const dataOf = ({object}: {object: object}) => (object as {data: Record<string, string>}).data

/** The whole text that kubeadm compares: header bytes, no payload, an HMAC over both. */
function signatureOf(kubeconfig: string, id: string): string {
  const header = Buffer.from(`{"alg":"HS256","kid":"${id}"}`).toString('base64url')
  const payload = Buffer.from(kubeconfig).toString('base64url')
  const mac = createHmac('sha256', SECRET).update(`${header}.${payload}`).digest('base64url')
  return `${header}..${mac}`
}

for (const protocol of PROTOCOLS) {
  describe(`kubeadm join over ${protocol}`, function () {
    this.timeout(30_000)
    const id = `join${suffixOf(protocol)}`
    const clients: GoClient[] = []
    let pin = ''
    let server = ''
    let stranger: GoClient
    /** What one step finds out and the next goes on with. */
    let first: Record<string, string> = {}
    let ca = ''
    let machine: GoClient

    before(async () => {
      const cluster = await traceCluster()
      pin = pinOf(cluster.ca)
      server = cluster.server
      const admin = asAdmin(cluster, protocol, 'kubeadm')
      stranger = asNobody(cluster, protocol, 'kubeadm')
      clients.push(admin, stranger)
      await admin.post(`${SECRETS}${TIMEOUT}`, tokenSecret(id, SECRET))
    })
    after(() => Promise.all(clients.map((client) => client.close())))

    it('reads cluster-info as nobody, from a server not yet known, until its token has signed it', async () => {
      const end = performance.now() + PATIENCE
      const key = `jws-kubeconfig-${id}`
      do {
        first = dataOf(await stranger.get(CLUSTER_INFO))
        if (key in first) break
        await sleep(50)
      } while (performance.now() < end)
      assert.equal(first[key], signatureOf(first.kubeconfig ?? '', id))
    })

    it('finds one cluster without a name in it, whose CA has the pin', () => {
      const {clusters, ...rest} = parse(first.kubeconfig ?? '') as ClusterInfo
      assert.deepEqual(rest, {
        apiVersion: 'v1',
        kind: 'Config',
        contexts: null,
        'current-context': '',
        preferences: {},
        users: null,
      })
      assert.equal(clusters.length, 1)
      assert.equal(clusters[0]?.name, '')
      assert.equal(clusters[0].cluster.server, server)
      ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString()
      assert.equal(pinOf(ca), pin)
    })

    it('reads the same bytes again over TLS that this CA verifies', async () => {
      const verifying = stranger.with({ca})
      clients.push(verifying)
      const second = dataOf(await verifying.get(CLUSTER_INFO))
      assert.equal(second.kubeconfig, first.kubeconfig)
      assert.equal(second[`jws-kubeconfig-${id}`], first[`jws-kubeconfig-${id}`])
    })

    it('reads by its token that the cluster is of a version it can join', async () => {
      machine = stranger.with({ca, bearer: `${id}.${SECRET}`})
      clients.push(machine)
      const data = dataOf(await machine.get(`${CONFIG_MAPS}/kubeadm-config${TIMEOUT}`))
      const config = parse(data.ClusterConfiguration ?? '') as Record<string, string>
      assert.equal(config.kind, 'ClusterConfiguration')
      assert.equal(config.apiVersion, 'kubeadm.k8s.io/v1beta4')
      assert.match(config.kubernetesVersion ?? '', /^v1\.3[56]\.\d+/)
    })

    it('goes on without a configuration of kube-proxy', async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const path = `${CONFIG_MAPS}/kube-proxy${TIMEOUT}`
        const {status, text} = await machine.call({method: 'GET', path})
        assert.ok(status === 403 || status === 404, text)
      }
    })

    it("reads the kubelet's configuration", async () => {
      const data = dataOf(await machine.get(`${CONFIG_MAPS}/kubelet-config${TIMEOUT}`))
      const config = parse(data.kubelet ?? '') as Record<string, string>
      assert.equal(config.kind, 'KubeletConfiguration')
      assert.equal(config.apiVersion, 'kubelet.config.k8s.io/v1beta1')
    })

    it('finds that its name is free', async () => {
      const {object} = await machine.get(`/api/v1/nodes/joiner-${id}${TIMEOUT}`, 404)
      assert.equal(object.reason, 'NotFound')
      assert.equal(object.message, `nodes "joiner-${id}" not found`)
    })

    it('can read no more than that by its token', async () => {
      for (const path of [
        SECRETS,
        CONFIG_MAPS,
        `${SECRETS}/bootstrap-token-${id}`,
        '/api/v1/nodes',
        '/api/v1/pods',
      ]) {
        const {object} = await machine.get(`${path}${TIMEOUT}`, 403)
        assert.equal(object.reason, 'Forbidden')
      }
    })
  })
}
