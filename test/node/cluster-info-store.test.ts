import assert from 'node:assert/strict'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {parseStored} from '../../src/discovery/cluster-info.ts'
import {TrustError} from '../../src/errors.ts'
import {clusterInfoFiles, requireSameCluster} from '../../src/node/cluster-info-store.ts'
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

describe('the folder of a node of another cluster', () => {
  let dir: string
  const usual = process.env.TRUSTADM_NODE_DIR
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-node-'))
    await mkdir(join(dir, 'pki'))
    await writeFile(join(dir, 'pki/ca.crt'), (await testAuthority()).pem)
  })
  afterEach(async () => {
    if (usual === undefined) delete process.env.TRUSTADM_NODE_DIR
    else process.env.TRUSTADM_NODE_DIR = usual
    await rm(dir, {recursive: true})
  })

  const firstHint = async (): Promise<string | undefined> => {
    const info = parseStored(formatClusterInfo({server, ca: (await testAuthority()).pem}))
    const error = await requireSameCluster(dir, info).catch((caught: unknown) => caught)
    assert.ok(error instanceof TrustError)
    assert.equal(error.code, 'CONFLICT')
    return error.suggestions[0]
  }

  it('is named in the command to leave it, unless it is the default one', async () => {
    assert.match((await firstHint()) ?? '', new RegExp(`"trustadm node leave --dir ${dir}"`))
    process.env.TRUSTADM_NODE_DIR = dir
    assert.match((await firstHint()) ?? '', /"trustadm node leave" here/)
  })
})
