import assert from 'node:assert/strict'
import {
  clusterInfoConfigMap,
  formatClusterInfo,
  isJwsKey,
  jwsKey,
  tokenIdOfJwsKey,
} from '../../src/bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import {testAuthority} from '../pki/support.ts'

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
