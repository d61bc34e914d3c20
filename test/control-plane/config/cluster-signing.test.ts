import assert from 'node:assert/strict'
import {parse} from 'yaml'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {
  clusterSigning,
  withStored,
  type ClusterSigning,
} from '../../../src/control-plane/config/cluster-signing.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {signingOf, trustSources} from '../../../src/control-plane/signing.ts'

const HOUR = 3_600_000
const read = (value: unknown) => clusterSigning(value, 'clusterSigning')
const pair = (name: string) => ({certificate: `/ca/${name}.crt`, key: `/ca/${name}.key`})
const SETTINGS: ClusterSigning = {
  files: pair('all'),
  filesOf: {'kubernetes.io/kube-apiserver-client-kubelet': pair('kubelets')},
  duration: 720 * HOUR,
}

describe('signing settings of a control plane', () => {
  let dir = ''
  before(async () => (dir = await mkdtemp(join(tmpdir(), 'trustadm-signing-'))))
  after(() => rm(dir, {recursive: true, force: true}))

  it('stand in config.yaml, and are read again', async () => {
    const flags = {bindAddress: '127.0.0.1', bindPort: 0, clusterSigning: SETTINGS}
    const plane = await resolvePlane({dir, flags})
    await savePlane(plane)
    const written = parse(await readFile(join(dir, 'config.yaml'), 'utf8')) as Record<
      string,
      unknown
    >
    assert.deepEqual(written.clusterSigning, {
      duration: '720h0m0s',
      certFile: '/ca/all.crt',
      keyFile: '/ca/all.key',
      kubeletClient: {certFile: '/ca/kubelets.crt', keyFile: '/ca/kubelets.key'},
    })
    const stored = await findPlane(dir)
    assert.deepEqual(stored?.settings.clusterSigning, SETTINGS)
    const {signers} = await trustSources(plane)
    assert.deepEqual(
      signers.map(({authority}) => (typeof authority === 'string' ? authority : authority.key)),
      ['/ca/all.key', '/ca/kubelets.key', 'kubelet-serving-ca', 'legacy-unknown-ca'],
    )
  })

  it('yield to flags, one by one', () => {
    const own = {filesOf: {'kubernetes.io/kubelet-serving': pair('serving')}, duration: HOUR}
    assert.deepEqual(withStored(own, SETTINGS), {
      files: pair('all'),
      filesOf: {...SETTINGS.filesOf, ...own.filesOf},
      duration: HOUR,
    })
    const plane = {settings: {clusterSigning: SETTINGS}} as Parameters<typeof signingOf>[0]
    assert.equal(signingOf(plane).duration, 720 * HOUR)
  })

  const refusals: [string, unknown, RegExp][] = [
    ['half a pair', {certFile: '/a'}, /clusterSigning\.keyFile is missing/],
    [
      'half a pair of one signer',
      {kubeletClient: {keyFile: '/a'}},
      /kubeletClient\.certFile is missing/,
    ],
    ['a field that nobody knows', {sigher: {}}, /unknown field clusterSigning\.sigher/],
    ['a list', [], /is not a map/],
    ['a duration that is none', {duration: 'soon'}, /clusterSigning\.duration/],
  ]
  for (const [name, value, message] of refusals) {
    it(`refuse ${name}`, () => assert.throws(() => read(value), {code: 'CONFIG_INVALID', message}))
  }
})
