import assert from 'node:assert/strict'
import {
  clusterInfoConfigMap,
  formatClusterInfo,
  isJwsKey,
  jwsKey,
  readIssuers,
  tokenIdOfJwsKey,
} from '../../src/bootstrap/cluster-info.ts'
import {parseClusterInfo, withAuthorities} from '../../src/bootstrap/parse-cluster-info.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {testAuthority} from '../pki/support.ts'

const address = 'https://cluster:6443'

describe('the CAs that sign for nodes, in cluster-info', () => {
  it('are read as they were written, and absent if nobody wrote them', () => {
    const issuers = {client: 'ab12', serving: 'cd34'}
    assert.deepEqual(
      parseClusterInfo(formatClusterInfo({server: address, issuers})).issuers,
      issuers,
    )
    assert.equal(parseClusterInfo(formatClusterInfo({server: address})).issuers, undefined)
  })

  it('change with the CAs, and are taken out again', async () => {
    const {pem: ca} = await testAuthority()
    const plain = formatClusterInfo({server: address, ca})
    const changed = withAuthorities(plain, ca, {client: 'ab12'})
    assert.deepEqual(parseClusterInfo(changed).issuers, {client: 'ab12'})
    assert.equal(withAuthorities(changed, ca, {client: 'ab12'}), changed)
    assert.equal(withAuthorities(changed, ca), plain)
  })

  for (const [name, extensions] of Object.entries({
    'no list': {name: 'trustadm.io/node-issuers'},
    'another extension': [{name: 'example.com/x', extension: {client: 'ab'}}],
    'no map': [{name: 'trustadm.io/node-issuers', extension: 'ab'}],
    nothing: [null],
  })) {
    it(`are not read from ${name}`, () => assert.equal(readIssuers(extensions), undefined))
  }

  it('come with the CAs of those who call kubelets', async () => {
    const {pem} = await testAuthority()
    const issuers = {client: 'ab12', kubeletClientCa: pem}
    const read = parseClusterInfo(formatClusterInfo({server: address, issuers})).issuers
    assert.deepEqual(parseBundle(read?.kubeletClientCa ?? ''), parseBundle(pem))
    for (const kubeletClientCa of ['no certificate', 7, 'x'.repeat(70_000)]) {
      const extension = {client: 'ab12', kubeletClientCa}
      const found = readIssuers([{name: 'trustadm.io/node-issuers', extension}])
      assert.deepEqual(found, {client: 'ab12'})
    }
  })

  it('are not what is no key identifier', () => {
    const extension = {client: 'not hexadecimal', serving: 7}
    assert.deepEqual(readIssuers([{name: 'trustadm.io/node-issuers', extension}]), {})
  })
})

const server = 'https://10.0.0.1:6443'

describe('cluster-info', () => {
  it('is byte for byte what kubeadm writes', () => {
    assert.equal(
      formatClusterInfo({server, ca: 'PEM'}),
      `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: UEVN
    server: https://10.0.0.1:6443
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`,
    )
  })

  it('keeps a long CA on one line', () => {
    const text = formatClusterInfo({server, ca: 'PEM'.repeat(1000)})
    assert.equal(text.split('\n').length, 12)
  })

  it('comes back from its kubeconfig', async () => {
    const [{pem: one}, {pem: other}] = [await testAuthority(), await testAuthority()]
    for (const info of [
      {server, ca: one},
      {server: 'https://[fd00::1]:6443', ca: one + other},
      {server: 'https://api.example.com/cluster/7'},
      {server, ca: one, tlsServerName: 'kubernetes'},
    ]) {
      assert.deepEqual(parseClusterInfo(formatClusterInfo(info)), info)
    }
  })

  it('is kept in kube-public under the key kubeconfig', () => {
    assert.deepEqual(clusterInfoConfigMap({server}), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'cluster-info', namespace: 'kube-public'},
      data: {kubeconfig: formatClusterInfo({server})},
    })
  })
})

describe('the key of a signature', () => {
  it('is named after the token and gives its id back', () => {
    assert.equal(jwsKey('abc123'), 'jws-kubeconfig-abc123')
    assert.equal(tokenIdOfJwsKey('jws-kubeconfig-abc123'), 'abc123')
  })

  for (const key of ['kubeconfig', 'jws-kubeconfig-', 'jws-kubeconfig-ABC', 'abc123']) {
    it(`is not ${key}`, () => {
      assert.equal(tokenIdOfJwsKey(key), undefined)
    })
  }

  it('is known for what it is also where no token can have it', () => {
    assert.equal(isJwsKey('jws-kubeconfig-ABC'), true)
    assert.equal(isJwsKey('kubeconfig'), false)
  })
})
