import assert from 'node:assert/strict'
import {mkdir, readdir, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parseKubeconfig} from '../../src/client/kubeconfig.ts'
import {readFileSafely} from '../../src/fs/files.ts'
import {findCertDir} from '../../src/node/cert-dir.ts'
import {describeNode} from '../../src/node/describe-node.ts'
import {joinPhases, runJoin} from '../../src/node/join/join.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from './support.ts'

describe("the folder of a node's certificates", () => {
  const folder = useFolder()
  const kubeconfigWith = (file: string) =>
    writeFile(
      join(folder(), 'kubelet.conf'),
      `users: [{name: a, user: {client-certificate: ${file}, client-key: ${file}}}]\n`,
    )

  it('is pki in the folder of the node', async () => {
    assert.equal(await findCertDir(folder()), join(folder(), 'pki'))
  })

  it('is the one that the user names', async () => {
    await kubeconfigWith('/var/lib/kubelet/pki/kubelet-client-current.pem')
    assert.equal(await findCertDir(folder(), '/a/../b'), '/b')
  })

  it('is the one that kubelet.conf refers to', async () => {
    await kubeconfigWith('/var/lib/kubelet/pki/kubelet-client-current.pem')
    assert.equal(await findCertDir(folder()), '/var/lib/kubelet/pki')
    await kubeconfigWith('certificates/kubelet-client-current.pem')
    assert.equal(await findCertDir(folder()), join(folder(), 'certificates'))
  })

  for (const [what, make] of [
    ['names another kind of file', () => kubeconfigWith('/etc/ssl/one.pem')],
    ['is no kubeconfig', () => writeFile(join(folder(), 'kubelet.conf'), '[')],
    ['is empty', () => writeFile(join(folder(), 'kubelet.conf'), '')],
    ['is a folder', () => mkdir(join(folder(), 'kubelet.conf'))],
    ['is a link', () => symlink('/dev/zero', join(folder(), 'kubelet.conf'))],
  ] as const) {
    it(`is the default where kubelet.conf ${what}`, async () => {
      await make()
      assert.equal(await findCertDir(folder()), join(folder(), 'pki'))
    })
  }
})

describe('join into folders of its own choice', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  before(async () => {
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
  })
  after(async () => {
    await issuing.stop()
    await cluster.stop()
  })

  it('keeps the pair in --cert-dir, and finds it there without the flag', async () => {
    const dir = join(folder(), 'node')
    const certDir = join(folder(), 'kubelet', 'pki')
    await runJoin(joinRequest(cluster.settings(dir, 'apart', {certDir})), joinPhases())
    assert.deepEqual(await readdir(join(dir, 'pki')), ['ca.crt'])
    assert.equal((await readdir(certDir)).length, 2)
    const link = join(certDir, 'kubelet-client-current.pem')
    const text = (await readFileSafely(join(dir, 'kubelet.conf'))).toString()
    assert.equal(parseKubeconfig(text).users[0]?.user['client-certificate'], link)

    const again = joinRequest(cluster.settings(dir, 'apart'))
    await runJoin(again, joinPhases())
    assert.match(again.lines.join('\n'), /the certificate is kept/)
    assert.equal((await describeNode({dir, nodeName: 'apart'})).certificate, link)
  })

  it('takes a node name of 253 characters, and cuts its label', async () => {
    const name = `${'n'.repeat(62)}.${'m'.repeat(190)}`
    assert.equal(name.length, 253)
    await runJoin(joinRequest(cluster.settings(join(folder(), 'long'), name)), joinPhases())
    const {metadata} = await cluster.admin.nodes.get(name)
    assert.equal(metadata.labels?.['kubernetes.io/hostname'], 'n'.repeat(62))
  })
})
