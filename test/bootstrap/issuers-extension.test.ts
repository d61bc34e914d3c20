import assert from 'node:assert/strict'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {readIssuers} from '../../src/bootstrap/issuers-extension.ts'
import {parseClusterInfo, withAuthorities} from '../../src/bootstrap/parse-cluster-info.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {testAuthority} from '../pki/support.ts'

const server = 'https://cluster:6443'

describe('the CAs that sign for nodes, in cluster-info', () => {
  it('are read as they were written, and absent if nobody wrote them', () => {
    const issuers = {client: 'ab12', serving: 'cd34'}
    assert.deepEqual(parseClusterInfo(formatClusterInfo({server, issuers})).issuers, issuers)
    assert.equal(parseClusterInfo(formatClusterInfo({server})).issuers, undefined)
  })

  it('change with the CAs, and are taken out again', async () => {
    const {pem: ca} = await testAuthority()
    const plain = formatClusterInfo({server, ca})
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
    const read = parseClusterInfo(formatClusterInfo({server, issuers})).issuers
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
