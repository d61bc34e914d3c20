import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {readApiServer, type ApiServerReader} from '../../../src/controllers/approval/api-server.ts'
import {TrustError} from '../../../src/errors.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {clusterConfig} from './support.ts'

describe('what no node may have of the API server', () => {
  let server: TestServer
  let admin: ApiClient

  before(async () => {
    server = await startTestServer({controllers: false})
    const clientCertificate = await server.credentialsFor('admin', ['system:masters'])
    admin = connectTo({server: server.url, ca: server.ca, clientCertificate})
  })
  after(async () => {
    await admin.close()
    await server.stop()
  })

  const known = async (client: ApiServerReader) => {
    const facts = await readApiServer(client)
    assert.ok(!('unknown' in facts), JSON.stringify(facts))
    return {...facts, ranges: facts.serviceRanges.map(({text}) => text)}
  }

  it('is not known while nobody has written down the range of services', async () => {
    const facts = await readApiServer(admin)
    assert.match('unknown' in facts ? facts.unknown : '', /kubeadm-config.* is missing/)
  })

  it('is what its certificate, its Service and the configuration of the cluster name', async () => {
    const text =
      'controlPlaneEndpoint: "api.example.com:6443"\napiServer: {certSANs: [more.example.com]}\nnetworking: {serviceSubnet: "10.96.0.0/12,fd00:1::/112"}\n'
    await admin.configMaps.create({...clusterConfig, data: {ClusterConfiguration: text}})
    const {names, endpoints, shared, ranges, attests} = await known(admin)
    assert.deepEqual([[...endpoints], shared], [[], 'api.example.com'])
    const wanted = ['localhost', '127.0.0.1', '10.96.0.1', 'api.example.com', 'more.example.com']
    assert.deepEqual([...names].sort(), wanted.sort())
    assert.deepEqual(ranges, ['10.96.0.0/12', 'fd00:1::/112'])
    assert.equal(attests, true)
  })

  it('is also what a cluster of Kubernetes’ own tells, whose requests do not say where they come from', async () => {
    const items = {
      endpointslices: [
        {metadata: {name: 'kubernetes'}, endpoints: [{addresses: ['192.0.2.1']}]},
        {metadata: {name: 'by-hand'}, endpoints: [{addresses: ['192.0.2.2']}]},
      ],
      servicecidrs: [{spec: {cidrs: ['172.20.0.0/16']}}],
    }
    const kubernetes = {
      ...admin,
      version: () => Promise.resolve({major: '1', minor: '36', gitVersion: 'v1.36.4'}),
      resource: (({plural}: {plural: keyof typeof items}) => ({
        list: () => Promise.resolve({items: items[plural]}),
      })) as unknown as ApiClient['resource'],
    }
    const {names, endpoints, ranges, attests} = await known(kubernetes)
    assert.ok(names.has('192.0.2.1') && names.has('192.0.2.2'))
    // What somebody else has added makes nobody an API server.
    assert.deepEqual([...endpoints], ['192.0.2.1'])
    assert.ok(ranges.includes('172.20.0.0/16'))
    assert.equal(attests, false)
  })

  for (const [how, data] of [
    ['emptied', {ClusterConfiguration: ''}],
    ['overwritten', {ClusterConfiguration: 'nothing'}],
    ['changed', {ClusterConfiguration: 'networking: {serviceSubnet: 172.20.0.0/16}\n'}],
    ['deleted', undefined],
  ] as const) {
    it(`is no less once the configuration of the cluster was ${how}: the settings of the server count`, async () => {
      const find = () => Promise.resolve(data && {...clusterConfig, data})
      const changed = {...admin, configMaps: {...admin.configMaps, find}} as ApiServerReader
      const settings = {names: ['api.example.com'], subnets: ['10.96.0.0/12']}
      const facts = await readApiServer(changed, {settings})
      assert.ok('names' in facts && facts.names.has('api.example.com'))
      assert.ok(facts.serviceRanges.some(({text}) => text === '10.96.0.0/12'))
    })
  }

  it('is not known without the configuration, even if there are ServiceCIDRs', async () => {
    const cidrs = {items: [{spec: {cidrs: ['172.20.0.0/16']}}]}
    const resource = (() => ({list: () => Promise.resolve(cidrs)})) as unknown
    const find = () => Promise.resolve(undefined)
    const facts = await readApiServer({
      ...admin,
      configMaps: {...admin.configMaps, find},
      resource: resource as ApiClient['resource'],
    })
    assert.match('unknown' in facts ? facts.unknown : '', /kubeadm-config.* is missing/)
  })

  it('is an error, and not nothing, where it may not be read', async () => {
    const refused = () => Promise.reject(new TrustError('FORBIDDEN', 'no'))
    const raw = () => Promise.resolve('{}')
    const resource = (() => ({list: refused})) as unknown as ApiClient['resource']
    await assert.rejects(readApiServer({...admin, raw, resource}), {code: 'FORBIDDEN'})
  })

  it('is not known by a client that has not seen the certificate', async () => {
    const facts = await readApiServer({...admin, serverNames: () => undefined})
    assert.deepEqual(facts, {unknown: "the API server's certificate was not seen"})
  })
})
