import assert from 'node:assert/strict'

import {createDiscovery} from '../../../src/server/discovery/discovery.ts'
import {SAMPLE_RESOURCES} from './sample-resources.ts'

const KUBECTL =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
const EVERY_VERB = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

const discover = createDiscovery(SAMPLE_RESOURCES, '192.0.2.1:6443')

function get(path: string, headers: Record<string, string> = {accept: 'application/json'}) {
  const answer = discover({path, headers})
  assert.ok(answer, path)
  const text = Buffer.from(answer.body as Uint8Array).toString()
  return {...answer, json: text === '' ? undefined : (JSON.parse(text) as Record<string, any>)}
}

describe('legacy discovery', () => {
  it('lists the versions of the core group at /api', () => {
    const {json, headers} = get('/api')
    assert.deepEqual(json, {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.1:6443'}],
    })
    assert.equal(headers['Content-Type'], 'application/json')
  })

  it('lists the named groups at /apis in the order of Kubernetes, custom ones last', () => {
    const {json} = get('/apis')
    assert.deepEqual(
      (json?.groups as {name: string}[]).map(({name}) => name),
      ['authorization.k8s.io', 'certificates.k8s.io', 'machine.openshift.io'],
    )
  })

  it('prefers the first of the versions of a group', () => {
    assert.deepEqual(get('/apis/certificates.k8s.io').json, {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'certificates.k8s.io',
      versions: [
        {groupVersion: 'certificates.k8s.io/v1', version: 'v1'},
        {groupVersion: 'certificates.k8s.io/v1beta1', version: 'v1beta1'},
      ],
      preferredVersion: {groupVersion: 'certificates.k8s.io/v1', version: 'v1'},
    })
  })

  it('lists resources and their subresources as a real server does', () => {
    const subresource = (name: string) => ({
      name: `certificatesigningrequests/${name}`,
      singularName: '',
      namespaced: false,
      kind: 'CertificateSigningRequest',
      verbs: ['get', 'patch', 'update'],
    })
    assert.deepEqual(get('/apis/certificates.k8s.io/v1').json, {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'certificates.k8s.io/v1',
      resources: [
        {
          name: 'certificatesigningrequests',
          singularName: 'certificatesigningrequest',
          namespaced: false,
          kind: 'CertificateSigningRequest',
          verbs: EVERY_VERB,
          shortNames: ['csr'],
          storageVersionHash: '95fRKMXA+00=',
        },
        subresource('approval'),
        subresource('status'),
      ],
    })
  })

  it('lists the core group sorted, without an apiVersion, naming foreign kinds in full', () => {
    const {json} = get('/api/v1')
    assert.equal(json?.apiVersion, undefined)
    const [configMaps, , token] = json?.resources ?? []
    assert.equal(configMaps.name, 'configmaps')
    assert.equal(configMaps.storageVersionHash, 'qFsyl6wFWjQ=')
    assert.deepEqual(configMaps.verbs, EVERY_VERB)
    assert.deepEqual(token, {
      name: 'serviceaccounts/token',
      singularName: '',
      namespaced: true,
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'TokenRequest',
      verbs: ['create'],
    })
  })

  it('gives reviews, which are not stored, no storage version', () => {
    const {json} = get('/apis/authorization.k8s.io/v1')
    assert.deepEqual(Object.keys(json?.resources[0]), [
      'name',
      'singularName',
      'namespaced',
      'kind',
      'verbs',
    ])
  })

  it('serves a path with a slash at its end too', () => {
    assert.equal(get('/apis/').json?.kind, 'APIGroupList')
  })

  it('leaves every other path alone', () => {
    for (const path of [
      '/',
      '/api/v2',
      '/apis/nothing',
      '/apis/certificates.k8s.io/v2',
      '/version',
    ]) {
      assert.equal(discover({path, headers: {}}), undefined, path)
    }
  })
})

describe('aggregated discovery', () => {
  it('answers the named groups as one document', () => {
    const {json, headers} = get('/apis', {accept: KUBECTL})
    assert.equal(
      headers['Content-Type'],
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    )
    assert.equal(json?.apiVersion, 'apidiscovery.k8s.io/v2')
    const certificates = json.items[1]
    assert.deepEqual(certificates.metadata, {name: 'certificates.k8s.io'})
    assert.deepEqual(
      (certificates.versions as {version: string; freshness: string}[]).map(
        ({version, freshness}) => [version, freshness],
      ),
      [
        ['v1', 'Current'],
        ['v1beta1', 'Current'],
      ],
    )
    assert.deepEqual(certificates.versions[0].resources, [
      {
        resource: 'certificatesigningrequests',
        responseKind: {group: '', version: '', kind: 'CertificateSigningRequest'},
        scope: 'Cluster',
        singularResource: 'certificatesigningrequest',
        verbs: EVERY_VERB,
        shortNames: ['csr'],
        subresources: ['approval', 'status'].map((subresource) => ({
          subresource,
          responseKind: {group: '', version: '', kind: 'CertificateSigningRequest'},
          verbs: ['get', 'patch', 'update'],
        })),
      },
    ])
  })

  it('answers the core group at /api without a name', () => {
    const {json} = get('/api', {accept: KUBECTL})
    assert.equal(json?.items.length, 1)
    assert.deepEqual(json.items[0].metadata, {})
    const [configMaps, serviceAccounts] = json.items[0].versions[0].resources
    assert.deepEqual(configMaps.categories, ['all'])
    assert.deepEqual(serviceAccounts.subresources[0].responseKind, {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'TokenRequest',
    })
  })

  it('answers v2beta1 to a client that knows no other', () => {
    const {json, headers} = get('/apis', {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
    })
    assert.match(String(headers['Content-Type']), /v=v2beta1/)
    assert.equal(json?.apiVersion, 'apidiscovery.k8s.io/v2beta1')
  })

  it('answers the legacy document to a client that prefers it', () => {
    const {json} = get('/apis', {accept: `application/json,${KUBECTL}`})
    assert.equal(json?.kind, 'APIGroupList')
  })

  it('answers 304 to a client that has the document', () => {
    const tag = String(get('/apis', {accept: KUBECTL}).headers.ETag)
    const again = get('/apis', {accept: KUBECTL, 'if-none-match': tag})
    assert.equal(again.status, 304)
    assert.equal(again.json, undefined)
    assert.equal(again.headers.Vary, 'Accept')
    assert.equal(get('/api', {accept: KUBECTL, 'if-none-match': tag}).status, 200)
  })
})
