import assert from 'node:assert/strict'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {parseStored} from '../../src/discovery/stored-cluster-info.ts'
import {clusterInfoFiles} from '../../src/node/cluster-info-store.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {testAuthority} from '../pki/support.ts'

const server = 'https://cluster:6443'
const prints = (pem = '') => parseBundle(pem).map(({fingerprint}) => fingerprint)

describe('the files that say which cluster a node trusts', () => {
  it('let kubelets accept the CAs of those who call them, beside those of the API server', async () => {
    const [ca, callers] = [(await testAuthority()).pem, (await testAuthority()).pem]
    const authorities = (issuers: {kubeletClientCa?: string}) => {
      const info = parseStored(formatClusterInfo({server, ca, issuers}))
      return clusterInfoFiles('/node', info).find(({path}) => path.endsWith('pki/ca.crt'))?.content
    }
    assert.deepEqual(prints(authorities({})), prints(ca))
    // During Prepare, the old CA signs both.
    assert.deepEqual(prints(authorities({kubeletClientCa: ca + callers})), prints(ca + callers))
    assert.deepEqual(prints(authorities({kubeletClientCa: callers})), prints(ca + callers))
  })
})
