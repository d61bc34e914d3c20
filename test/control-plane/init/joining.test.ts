import assert from 'node:assert/strict'
import {parse} from 'yaml'
import {formatClusterInfo} from '../../../src/bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../../src/bootstrap/parse-cluster-info.ts'
import {formatToken, parseToken} from '../../../src/bootstrap/token.ts'
import {weaknessOf} from '../../../src/bootstrap/generate-token.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {endpointOf} from '../../../src/control-plane/config/plane.ts'
import type {Choices} from '../../../src/control-plane/config/settings.ts'
import {describePlane} from '../../../src/control-plane/init/init.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {testAuthority} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const BOOTSTRAPPERS = 'system:bootstrappers:kubeadm:default-node-token'
const REQUESTS = 'system:certificates.k8s.io:certificatesigningrequests'
const TOKEN = parseToken('nh3k2b.x8s0vq1zr5mw7cpd')

describe('the phases by which machines can join', () => {
  let server: TestServer
  let fixture: PlaneFixture
  let client: ApiClient

  const start = async (choices: Choices = {}) => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    fixture = await planeFixture(choices)
    fixture.context.connect = () => Promise.resolve(server.clientAs(ADMIN))
    await fixture.provide('certs')
  }
  afterEach(async () => {
    await fixture.remove()
    await server.stop()
  })

  const dataOf = async (key: string) => (await client.configMaps.get(key)).data ?? {}

  describe('cluster-info', () => {
    beforeEach(() => start())

    it('publishes the address and the CA, and nothing else', async () => {
      await fixture.run('cluster-info')
      const data = await dataOf('kube-public/cluster-info')
      assert.deepEqual(Object.keys(data), ['kubeconfig'])
      const info = parseClusterInfo(data.kubeconfig ?? '')
      assert.equal(info.server, endpointOf(fixture.context.plane))
      assert.match(info.ca ?? '', /BEGIN CERTIFICATE/)
    })

    it('changes nothing in a second run', async () => {
      await fixture.run('cluster-info')
      const before = await client.configMaps.get('kube-public/cluster-info')
      fixture.lines.length = 0
      await fixture.run('cluster-info')
      assert.deepEqual(await client.configMaps.get('kube-public/cluster-info'), before)
      assert.match(
        fixture.lines.join('\n'),
        /13 roles and bindings for joining machines: unchanged/,
      )
      assert.doesNotMatch(fixture.lines.join('\n'), /created|updated/)
    })

    it("keeps an operator's changes of cluster-info, with the current CAs, and says what differs", async () => {
      await fixture.run('cluster-info')
      const found = await client.configMaps.get('kube-public/cluster-info')
      const own = endpointOf(fixture.context.plane)
      const good = found.data?.kubeconfig ?? ''
      const edited = good.replace(own, 'https://lb.example:443')
      const {pem: other} = await testAuthority()
      const outdated = formatClusterInfo({server: 'https://lb.example:443', ca: other})
      for (const kubeconfig of [edited, outdated]) {
        const current = await client.configMaps.get('kube-public/cluster-info')
        await client.configMaps.update({...current, data: {kubeconfig}})
        fixture.lines.length = 0
        await fixture.run('cluster-info')
        assert.deepEqual(await dataOf('kube-public/cluster-info'), {kubeconfig: edited})
        assert.ok(
          fixture.lines.includes(
            `cluster-info names the server https://lb.example:443, not ${own}: this is kept`,
          ),
          fixture.lines.join('\n'),
        )
      }
    })

    it('names a CA that only cluster-info has, which does not stay', async () => {
      await fixture.run('cluster-info')
      const found = await client.configMaps.get('kube-public/cluster-info')
      const {server, ca = ''} = parseClusterInfo(found.data?.kubeconfig ?? '')
      const {pem: other} = await testAuthority()
      const kubeconfig = formatClusterInfo({server, ca: ca + other})
      await client.configMaps.update({...found, data: {kubeconfig}})
      fixture.lines.length = 0
      await fixture.run('cluster-info')
      const lines = fixture.lines.filter((line) => line.includes('append it to ca.crt'))
      assert.equal(lines.length, 1)
      assert.ok(lines[0]?.includes(pinOf(parseCertificate(other))), lines[0])
      assert.deepEqual(await dataOf('kube-public/cluster-info'), found.data)
    })

    it('replaces a kubeconfig that no machine can read, and leaves signatures to the signer', async () => {
      await fixture.run('cluster-info')
      const found = await client.configMaps.get('kube-public/cluster-info')
      const good = found.data?.kubeconfig
      const data = {kubeconfig: 'another', 'jws-kubeconfig-nh3k2b': 'x..y'}
      await client.configMaps.update({...found, data})
      await fixture.run('cluster-info')
      assert.deepEqual(await dataOf('kube-public/cluster-info'), {...data, kubeconfig: good})
    })

    it('tries again where a controller was quicker', async () => {
      await fixture.run('cluster-info')
      const found = await client.configMaps.get('kube-public/cluster-info')
      await client.configMaps.update({...found, data: {kubeconfig: 'another'}})
      let interruptions = 2
      fixture.context.connect = () => {
        const slow = server.clientAs(ADMIN)
        const {update} = slow.configMaps
        slow.configMaps.update = async (object, options) => {
          if (interruptions > 0) {
            interruptions -= 1
            const {data, ...current} = await client.configMaps.get('kube-public/cluster-info')
            const signed = {...data, 'jws-kubeconfig-nh3k2b': `x..${interruptions}`}
            await client.configMaps.update({...current, data: signed})
          }
          return await update.call(slow.configMaps, object, options)
        }
        return Promise.resolve(slow)
      }
      await fixture.run('cluster-info')
      const data = await dataOf('kube-public/cluster-info')
      assert.equal(data['jws-kubeconfig-nh3k2b'], 'x..0')
      assert.match(data.kubeconfig ?? '', /^apiVersion/)
    })

    it('tells kubeadm the version and the networks of the cluster', async () => {
      await fixture.run('kubeadm-config')
      const {ClusterConfiguration = ''} = await dataOf('kube-system/kubeadm-config')
      const config = parse(ClusterConfiguration) as Record<string, unknown>
      assert.equal(config.apiVersion, 'kubeadm.k8s.io/v1beta4')
      assert.equal(config.kind, 'ClusterConfiguration')
      assert.equal(config.kubernetesVersion, 'v1.36.4')
      assert.deepEqual(config.networking, {
        dnsDomain: 'cluster.local',
        serviceSubnet: '10.96.0.0/12',
      })
    })

    it("gives kubelets the cluster's DNS and CA, and lets them rotate their certificates", async () => {
      await fixture.run('kubeadm-config')
      const {kubelet = ''} = await dataOf('kube-system/kubelet-config')
      const config = parse(kubelet) as Record<string, any>
      assert.equal(config.kind, 'KubeletConfiguration')
      assert.deepEqual(config.clusterDNS, ['10.96.0.10'])
      assert.equal(config.rotateCertificates, true)
      assert.equal(config.authentication.x509.clientCAFile, '/etc/kubernetes/pki/ca.crt')
    })

    it('keeps what an administrator has made of the configuration of kubelets', async () => {
      await fixture.run('kubeadm-config')
      const found = await client.configMaps.get('kube-system/kubelet-config')
      await client.configMaps.update({...found, data: {kubelet: 'kind: KubeletConfiguration\n'}})
      await fixture.run('kubeadm-config')
      assert.deepEqual(await dataOf('kube-system/kubelet-config'), {
        kubelet: 'kind: KubeletConfiguration\n',
      })
    })

    it('binds what kubeadm binds, under the same names', async () => {
      await fixture.run('cluster-info')
      const bound = async (name: string) => {
        const {roleRef, subjects} = await client.clusterRoleBindings.get({name})
        return [roleRef.name, ...(subjects ?? []).map((subject) => subject.name)]
      }
      assert.deepEqual(await bound('kubeadm:kubelet-bootstrap'), [
        'system:node-bootstrapper',
        BOOTSTRAPPERS,
      ])
      assert.deepEqual(await bound('kubeadm:node-autoapprove-bootstrap'), [
        `${REQUESTS}:nodeclient`,
        BOOTSTRAPPERS,
      ])
      assert.deepEqual(await bound('kubeadm:node-autoapprove-certificate-rotation'), [
        `${REQUESTS}:selfnodeclient`,
        'system:nodes',
      ])
      assert.deepEqual(await bound('kubeadm:get-nodes'), ['kubeadm:get-nodes', BOOTSTRAPPERS])
    })

    it('makes a binding anew that leads to another role', async () => {
      await fixture.run('cluster-info')
      const name = 'kubeadm:kubelet-bootstrap'
      const found = await client.clusterRoleBindings.get({name})
      await client.clusterRoleBindings.delete({name})
      await client.clusterRoleBindings.create({
        metadata: {name},
        roleRef: {...found.roleRef, name: 'cluster-admin'},
        subjects: found.subjects ?? [],
      })
      await fixture.run('cluster-info')
      const {roleRef} = await client.clusterRoleBindings.get({name})
      assert.equal(roleRef.name, 'system:node-bootstrapper')
    })

    const asked: {who: string; groups: string[]; path: string; verb: string; allowed: boolean}[] = [
      {
        who: 'system:anonymous',
        groups: [],
        path: 'kube-public/configmaps/cluster-info',
        verb: 'get',
        allowed: true,
      },
      {
        who: 'system:anonymous',
        groups: [],
        path: 'kube-public/configmaps/cluster-info',
        verb: 'update',
        allowed: false,
      },
      {
        who: 'system:anonymous',
        groups: [],
        path: 'kube-public/configmaps/other',
        verb: 'get',
        allowed: false,
      },
      {
        who: 'system:anonymous',
        groups: [],
        path: 'kube-system/configmaps/kubeadm-config',
        verb: 'get',
        allowed: false,
      },
      {
        who: 'joiner',
        groups: [BOOTSTRAPPERS],
        path: 'kube-system/configmaps/kubeadm-config',
        verb: 'get',
        allowed: true,
      },
      {
        who: 'joiner',
        groups: [BOOTSTRAPPERS],
        path: 'kube-system/configmaps/kubelet-config',
        verb: 'get',
        allowed: true,
      },
      {
        who: 'joiner',
        groups: [BOOTSTRAPPERS],
        path: 'kube-system/secrets/kubeadm-certs',
        verb: 'get',
        allowed: true,
      },
      {
        who: 'joiner',
        groups: [BOOTSTRAPPERS],
        path: 'kube-system/secrets/bootstrap-token-nh3k2b',
        verb: 'get',
        allowed: false,
      },
      {who: 'joiner', groups: [BOOTSTRAPPERS], path: '/nodes/one', verb: 'get', allowed: true},
      {who: 'joiner', groups: [BOOTSTRAPPERS], path: '/nodes/one', verb: 'delete', allowed: false},
      {
        who: 'joiner',
        groups: ['system:bootstrappers:other'],
        path: '/nodes/one',
        verb: 'get',
        allowed: false,
      },
    ]
    for (const {who, groups, path, verb, allowed} of asked) {
      it(`lets ${[who, ...groups].join(' of ')} ${allowed ? '' : 'not '}${verb} ${path}`, async () => {
        await fixture.run('cluster-info')
        const [namespace = '', resource = '', name = ''] = path.split('/')
        const review = await client.subjectAccessReviews.create({
          metadata: {},
          spec: {
            user: who,
            groups,
            resourceAttributes: {verb, namespace, resource, name, version: 'v1'},
          },
        })
        assert.equal(review.status?.allowed, allowed)
      })
    }
  })

  it('name no DNS server where the services have no tenth address', async () => {
    await start({serviceSubnet: '10.96.0.252/30'})
    await fixture.run('kubeadm-config')
    const {kubelet = ''} = await dataOf('kube-system/kubelet-config')
    assert.equal('clusterDNS' in (parse(kubelet) as object), false)
  })

  describe('bootstrap-token', () => {
    beforeEach(() => start())
    const tokens = async () => (await client.secrets.list({namespace: 'kube-system'})).items

    it('makes one strong token that expires, and keeps it in a second run', async () => {
      await fixture.run('bootstrap-token')
      const made = fixture.context.joinToken
      assert.ok(made?.expires)
      assert.equal(weaknessOf(made.token), undefined)
      await fixture.run('bootstrap-token')
      assert.equal((await tokens()).length, 1)
      assert.deepEqual(fixture.context.joinToken, made)
    })

    it('makes none if none is wanted', async () => {
      fixture.context.tokens = {wanted: []}
      await fixture.run('bootstrap-token')
      assert.deepEqual(await tokens(), [])
      assert.equal(fixture.context.joinToken, undefined)
    })

    it('takes the first that leads all the way into the join line', async () => {
      fixture.context.tokens = {
        wanted: [{usages: {signing: true, authentication: false}}, {token: TOKEN}],
      }
      await fixture.run('bootstrap-token')
      assert.equal((await tokens()).length, 2)
      const {token, joinCommand} = await describePlane(
        fixture.context.plane,
        fixture.context.joinToken,
      )
      assert.equal(token, formatToken(TOKEN))
      assert.match(joinCommand ?? '', /--token nh3k2b\.x8s0vq1zr5mw7cpd --discovery.* sha256:/)
    })

    it('never tells the secret, and warns once', async () => {
      fixture.context.tokens = {wanted: [{token: TOKEN}]}
      await fixture.run('bootstrap-token')
      const said = fixture.lines.join('\n')
      assert.doesNotMatch(said, /x8s0vq/)
      assert.equal(said.split('can join machines').length, 2)
    })

    it('says in a dry run what it would make, before there is a server', async () => {
      fixture.context.tokens = {wanted: [{token: TOKEN, ttl: 5_400_000}]}
      const {bootstrapToken} = await import('../../../src/control-plane/init/bootstrap-token.ts')
      assert.deepEqual(await bootstrapToken.plan(fixture.context), [
        'create the token nh3k2b.**************** for joining machines, valid for 1h30m0s',
      ])
    })
  })
})
