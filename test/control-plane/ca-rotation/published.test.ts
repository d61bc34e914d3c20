import assert from 'node:assert/strict'
import type {ConfigMap, Secret} from '../../../src/api/core.ts'
import {formatClusterInfo} from '../../../src/bootstrap/cluster-info.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {objectsBehind} from '../../../src/control-plane/ca-rotation/published.ts'
import {nodeIssuersOf, trustSources} from '../../../src/control-plane/signing.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from '../../../src/pki/lifetimes.ts'
import {systemClock} from '../../../src/runtime.ts'
import {readTrust} from '../../../src/trust/read-trust.ts'
import type {Trust} from '../../../src/trust/trust.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const SERVER = 'https://127.0.0.1:6443'
const SERVING = 'ConfigMap kube-system/kubelet-serving-ca'
const EXTENSION = 'ConfigMap kube-system/extension-apiserver-authentication'
const INFO = 'ConfigMap kube-public/cluster-info'

describe('what a rotation waits for in the API', () => {
  let fixture: PlaneFixture
  let trust: Trust
  let other: string
  let maps: Map<string, Record<string, string>>
  let secrets: Secret[]

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
    trust = await readTrust(await trustSources(fixture.context.plane), 1)
    const validity = authorityValidity(systemClock.now(), AUTHORITY_LIFETIME)
    other = await createAuthorityCertificate({commonName: 'other'}, await generateKeys(), validity)
  })
  after(() => fixture.remove())

  const info = (issuers?: object) =>
    formatClusterInfo({
      server: SERVER,
      ca: trust.bundles['api-server'].pem,
      issuers: {...nodeIssuersOf(trust), ...issuers},
    })
  beforeEach(() => {
    secrets = []
    maps = new Map([
      ['kube-public/cluster-info', {kubeconfig: info()}],
      [
        'kube-system/extension-apiserver-authentication',
        {
          'client-ca-file': trust.bundles.client.pem,
          'requestheader-client-ca-file': trust.bundles['front-proxy'].pem,
        },
      ],
      [
        'kube-system/kubelet-serving-ca',
        {'ca-bundle.crt': trust.bundles['kubelet-serving']?.pem ?? ''},
      ],
    ])
  })
  const behind = async () => {
    const find = ({namespace, name}: {namespace: string; name: string}) => {
      const data = maps.get(`${namespace}/${name}`)
      return Promise.resolve<ConfigMap | undefined>(data && {metadata: {namespace, name}, data})
    }
    const none = {list: () => Promise.resolve({items: []})}
    const list = () => Promise.resolve({items: secrets})
    const client = {configMaps: {...none, find}, namespaces: none, secrets: {list}}
    return await objectsBehind(client as unknown as ApiClient, trust)
  }

  it('is nothing if everything is shown as it is, or is not published here', async () => {
    assert.ok(trust.bundles['kubelet-serving'])
    assert.deepEqual(await behind(), [])
    maps.delete('kube-system/kubelet-serving-ca')
    assert.deepEqual(await behind(), [])
  })

  it('is the bundle by which callers of kubelets verify them', async () => {
    maps.set('kube-system/kubelet-serving-ca', {'ca-bundle.crt': other})
    assert.deepEqual(await behind(), [SERVING])
  })

  it('is who signs the serving certificates of nodes', async () => {
    maps.set('kube-public/cluster-info', {kubeconfig: info({serving: 'abcd'})})
    assert.deepEqual(await behind(), [INFO])
  })

  it('is that extension servers trust no CA of clients that has left', async () => {
    const data = maps.get('kube-system/extension-apiserver-authentication') ?? {}
    const file = trust.bundles.client.pem + other
    maps.set('kube-system/extension-apiserver-authentication', {...data, 'client-ca-file': file})
    assert.deepEqual(await behind(), [EXTENSION])
    // The CAs of bootstrap credentials belong there.
    maps.set('kube-system/kubelet-bootstrap-kubeconfig', {'ca-bundle.crt': other})
    assert.deepEqual(await behind(), [])
  })

  it('is the CA and the key in Secrets with tokens of service accounts, unless they are immutable', async () => {
    const encode = (text: string) => Buffer.from(text).toString('base64')
    const secretWith = (kid: string, ca: string): Secret => {
      const header = Buffer.from(JSON.stringify({kid})).toString('base64url')
      const data = {token: encode(`${header}.e30.c2ln`), 'ca.crt': encode(ca)}
      return {metadata: {namespace: 'default', name: 'robot'}, data}
    }
    const {id} = trust.tokenKeys.signing
    const {pem} = trust.bundles['api-server']
    for (const stale of [
      secretWith(id, other),
      secretWith(id, pem + other),
      secretWith('x', pem),
    ]) {
      secrets = [stale]
      assert.deepEqual(await behind(), ['Secret default/robot'])
    }
    secrets = [secretWith(id, pem), {...secretWith('x', other), immutable: true}]
    assert.deepEqual(await behind(), [])
  })
})
