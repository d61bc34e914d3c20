import assert from 'node:assert/strict'
import {lstat, mkdir, readFile, readdir, rm, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {recordKey} from '../../src/controllers/approval/node-record.ts'
import {requestedCertificate} from '../../src/csr/requested-certificate.ts'
import {lockFolder} from '../../src/fs/folder-lock.ts'
import {JOIN_PHASES, joinPhases, runJoin} from '../../src/node/join/join.ts'
import {keepClusterInfo, readClusterInfo} from '../../src/node/cluster-info-store.ts'
import {leave, planLeave} from '../../src/node/leave.ts'
import {nodeFile} from '../../src/node/node-files.ts'
import {nodeUnit} from '../../src/node/node-unit.ts'
import {installUnit} from '../../src/node/systemd-unit.ts'
import {findNodeFolder} from '../../src/node/node-folder.ts'
import {systemClock} from '../../src/runtime.ts'
import {run} from '../cli/program.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from './support.ts'

const options = {clock: systemClock}

describe('a node that leaves', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dirOf = (name: string) => join(folder(), name)
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  let kubeconfig = ''
  before(async () => {
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
  })
  after(async () => {
    await issuing.stop()
    await cluster.stop()
  })
  beforeEach(async () => {
    kubeconfig = join(folder(), 'admin.conf')
    await writeFile(kubeconfig, await cluster.kubeconfigFor('admin', ['system:masters']))
  })
  const joined = async (name: string, more: {certDir?: string} = {}) => {
    await runJoin(joinRequest(cluster.settings(dirOf(name), name, more)), joinPhases())
    await cluster.admin.configMaps.create({
      metadata: recordKey(name),
      data: {holder: 'sha256:other'},
    })
    return dirOf(name)
  }
  const isThere = (path: string) => lstat(path).then(Boolean, () => false)

  it('removes what join wrote, and says what an operator runs', async () => {
    const dir = await joined('one')
    await writeFile(join(dir, 'node-state.json'), '{}')
    await writeFile(join(dir, 'renew-request'), '')
    const {files = []} = (await findNodeFolder(dir)) ?? {}
    assert.deepEqual(files, [...new Set(files)])
    const report = await leave(dir, undefined, options)
    assert.equal(report.nodeName, 'one')
    assert.deepEqual(report.kept, [])
    assert.equal(await isThere(dir), false)
    assert.deepEqual(report.cluster?.commands, [
      'kubectl delete node one',
      'kubectl --namespace trustadm-system delete configmap trustadm-node.one --ignore-not-found',
    ])
    assert.equal(report.cluster.rejoin, 'trustadm certificate allow-rejoin one')
    assert.equal(report.unit, null)
    assert.equal((await cluster.admin.nodes.get('one')).metadata.name, 'one')
  })

  it('removes the systemd unit that join installed, and the link that enables it', async () => {
    const dir = await joined('unit')
    const unit = nodeUnit({dir, certDir: join(dir, 'pki')}, ['/trustadm'], folder())
    await installUnit(nodeFile(dir, 'unitNote'), unit)
    const wants = join(folder(), 'multi-user.target.wants')
    await mkdir(wants)
    await symlink(unit.path, join(wants, 'trustadm-node.service'))
    const report = await leave(dir, undefined, options)
    assert.deepEqual(report.unit, {
      path: unit.path,
      removed: true,
      commands: ['systemctl daemon-reload'],
    })
    assert.deepEqual([await isThere(unit.path), await readdir(wants)], [false, []])
    assert.equal(await isThere(dir), false)
  })

  it('leaves a unit that somebody has changed, and says what to run', async () => {
    const dir = await joined('edited')
    const unit = nodeUnit({dir, certDir: join(dir, 'pki')}, ['/trustadm'], folder())
    await installUnit(nodeFile(dir, 'unitNote'), unit)
    await writeFile(unit.path, `${unit.content}# mine\n`)
    const report = await leave(dir, undefined, options)
    assert.deepEqual(report.unit?.commands, [
      'systemctl disable --now trustadm-node.service',
      `rm ${unit.path}`,
      'systemctl daemon-reload',
    ])
    assert.deepEqual([report.unit.removed, await isThere(unit.path)], [false, true])
  })

  it('deletes the Node and its record with the rights of an operator', async () => {
    const dir = await joined('two')
    await cluster.admin.configMaps.patch(recordKey('two'), {data: {holder: ''}}, {type: 'merge'})
    const {cluster: forgotten} = await leave(dir, undefined, {...options, operator: {kubeconfig}})
    assert.deepEqual(forgotten, {
      node: 'deleted',
      record: 'deleted',
      reason: null,
      commands: [],
      rejoin: null,
    })
    const {items} = await cluster.admin.csrs.list()
    assert.deepEqual(
      items.filter((csr) => requestedCertificate(csr)?.node === 'two'),
      [],
    )
    assert.equal(await cluster.admin.nodes.find('two'), undefined)
    assert.equal(await cluster.admin.configMaps.find(recordKey('two')), undefined)
  })

  it('leaves the Node to the machine that has taken its name', async () => {
    const dir = await joined('three')
    const {cluster: forgotten} = await leave(dir, undefined, {...options, operator: {kubeconfig}})
    assert.equal(forgotten?.reason, 'the name now belongs to another machine')
    assert.deepEqual(forgotten.commands, [])
    assert.ok(await cluster.admin.nodes.find('three'))
    assert.equal(await isThere(dir), false)
  })

  it('changes nothing if the kubeconfig of the operator does not work', async () => {
    const dir = await joined('four')
    await writeFile(kubeconfig, '')
    await assert.rejects(leave(dir, undefined, {...options, operator: {kubeconfig}}), {
      code: 'KUBECONFIG_INVALID',
    })
    assert.equal(await isThere(join(dir, 'pki', 'kubelet-client-current.pem')), true)
  })

  it('keeps what others wrote', async () => {
    const dir = await joined('five')
    await writeFile(join(dir, 'notes.txt'), 'mine')
    await writeFile(join(dir, 'pki', 'kubelet-client-2020-01-01-00-00-00.pem'), 'not a pair')
    await writeFile(join(dir, 'pki', 'ca.crt'), 'changed')
    await writeFile(join(dir, 'bootstrap-kubelet.conf'), 'users: [{name: fleet, user: {token: a}}]')
    const {kept} = await leave(dir, undefined, options)
    assert.deepEqual(
      kept.sort(),
      [
        join(dir, 'bootstrap-kubelet.conf'),
        join(dir, 'notes.txt'),
        join(dir, 'pki', 'ca.crt'),
        join(dir, 'pki', 'kubelet-client-2020-01-01-00-00-00.pem'),
      ].sort(),
    )
    assert.deepEqual((await readdir(dir)).sort(), ['bootstrap-kubelet.conf', 'notes.txt', 'pki'])
  })

  it('keeps the certificates of a kubelet that joined by itself', async () => {
    const certDir = join(folder(), 'kubelet')
    const own = await joined('six', {certDir})
    const dir = dirOf('for-kubelet')
    await runJoin(joinRequest(cluster.settings(dir, 'other')), joinPhases({forKubelet: true}))
    const link = join(certDir, 'kubelet-client-current.pem')
    const text = `users: [{name: default-auth, user: {client-certificate: ${link}, client-key: ${link}}}]`
    await writeFile(join(dir, 'kubelet.conf'), text)
    const {removed} = await leave(dir, undefined, options)
    assert.deepEqual(removed.sort(), [
      join(dir, 'bootstrap-kubelet.conf'),
      join(dir, 'cluster-info.yaml'),
      join(dir, 'node-manifest.json'),
      join(dir, 'pki', 'ca.crt'),
    ])
    assert.equal(await isThere(link), true)
    await leave(own, undefined, options)
    assert.deepEqual(await readdir(certDir), [])
  })

  it('finishes in a second run, wherever the first one was stopped', async () => {
    const dir = await joined('seven')
    const {files} = await planLeave(dir)
    assert.equal(files.length, 6)
    for (const file of files.slice(0, -1)) {
      await rm(file)
      const rest = await planLeave(dir)
      assert.deepEqual(rest.files, files.slice(files.indexOf(file) + 1))
    }
    const report = await leave(dir, undefined, options)
    assert.deepEqual(report.removed, files.slice(-1))
    assert.equal(await isThere(dir), false)
    await assert.rejects(leave(dir, undefined, options))
  })

  it('says what an operator runs if its certificate is gone or has expired', async () => {
    const dir = await joined('eight')
    const later = {now: () => new Date(Date.now() + 100 * 3_600_000)}
    await rm(join(dir, 'kubelet.conf'))
    const {cluster: forgotten} = await leave(dir, undefined, {clock: later})
    assert.match(forgotten?.reason ?? '', /not valid any more/)
    assert.match(forgotten?.commands.join() ?? '', /kubectl delete node eight/)
  })

  it('is refused while another process works in the folder, and nothing changes', async () => {
    const dir = await joined('nine')
    const release = await lockFolder(join(dir, 'lock'))
    try {
      await assert.rejects(leave(dir, undefined, options), {
        code: 'CONFLICT',
        message: /another process/,
      })
      assert.ok(await readFile(join(dir, 'kubelet.conf')))
    } finally {
      await release()
    }
  })

  it('keeps the certificates that a kubelet has renewed, and the link to them', async () => {
    const dir = await joined('ten')
    const pki = join(dir, 'pki')
    const link = join(pki, 'kubelet-client-current.pem')
    const own = (await readdir(pki)).find((name) => name.startsWith('kubelet-client-2')) ?? ''
    const renewed = 'kubelet-client-2038-01-01-00-00-00.pem'
    await writeFile(join(pki, renewed), await readFile(join(pki, own)), {mode: 0o600})
    await rm(link)
    await symlink(renewed, link)
    const {kept} = await leave(dir, undefined, options)
    assert.deepEqual(kept.sort(), [join(pki, renewed), link].sort())
    assert.deepEqual((await readdir(pki)).sort(), [renewed, 'kubelet-client-current.pem'])
  })

  /** Files of a kubeadm control plane have the same names and the same form as ours: only the record and cluster-info.yaml are missing. */
  const kubeadmFolder = async (name: string) => {
    const dir = await joined(name)
    await writeFile(join(dir, 'admin.conf'), await readFile(join(dir, 'kubelet.conf')))
    for (const own of ['node-manifest.json', 'cluster-info.yaml', 'lock'])
      await rm(join(dir, own), {recursive: true, force: true})
    return dir
  }
  const contentOf = async (dir: string) => {
    const names = await readdir(dir, {recursive: true})
    return await Promise.all(
      names.sort().map(async (name) => [name, await readFile(join(dir, name)).catch(() => null)]),
    )
  }

  it('is not found in the folder of a kubeadm control plane, where neither reset nor leave changes anything', async () => {
    const dir = await kubeadmFolder('kubeadm')
    const before = await contentOf(dir)
    for (const command of [['reset'], ['node', 'leave']]) {
      for (const how of ['--yes', '--dry-run']) {
        const {exit, stderr} = await run(...command, how, '--dir', dir)
        assert.equal(exit, 1)
        assert.match(stderr, /there is no (control plane|node) in /)
      }
    }
    assert.deepEqual(await contentOf(dir), before)
    assert.ok(await cluster.admin.nodes.find('kubeadm'))
  })

  it('takes only what it wrote out of the folder of a kubeadm control plane', async () => {
    const dir = await kubeadmFolder('phase')
    const before = await contentOf(dir)
    await runJoin(joinRequest(cluster.settings(dir, 'phase')), [JOIN_PHASES.discovery])
    await assert.rejects(leave(dir, undefined, options), {code: 'NOT_FOUND'})
    // As releases did that knew nothing of such folders.
    const info = await readClusterInfo(await joined('other'))
    assert.ok(info)
    await keepClusterInfo(dir, info)
    const report = await leave(dir, undefined, {...options, operator: {kubeconfig}})
    assert.deepEqual(report.removed, [
      join(dir, 'cluster-info.yaml'),
      join(dir, 'node-manifest.json'),
    ])
    assert.deepEqual([report.nodeName, report.cluster], [null, null])
    assert.deepEqual(await contentOf(dir), before)
    assert.ok(await cluster.admin.nodes.find('phase'))
  })

  it('says what an operator runs for a node that joined before there were records', async () => {
    const dir = await joined('old')
    await rm(join(dir, 'node-manifest.json'))
    const {nodeName, removed, cluster: forgotten} = await leave(dir, undefined, options)
    assert.deepEqual([nodeName, removed], ['old', []])
    assert.equal(forgotten?.commands[0], 'kubectl delete node old')
    assert.equal(forgotten.rejoin, 'trustadm certificate allow-rejoin old')
    assert.ok(await isThere(join(dir, 'pki', 'kubelet-client-current.pem')))
    assert.ok(await cluster.admin.nodes.find('old'))
  })

  it('knows such a node by a certificate that it has got since', async () => {
    const dir = await joined('renewed')
    await cluster.admin.configMaps.delete(recordKey('renewed'))
    const manifest = join(dir, 'node-manifest.json')
    const {files} = JSON.parse(await readFile(manifest, 'utf8')) as {files: object}
    const ours = Object.entries(files).filter(([label]) => label.includes('kubelet-client-2'))
    await writeFile(manifest, JSON.stringify({files: Object.fromEntries(ours)}))
    const report = await leave(dir, undefined, {...options, operator: {kubeconfig}})
    assert.deepEqual([report.nodeName, report.cluster?.node], ['renewed', 'deleted'])
    assert.equal(await cluster.admin.nodes.find('renewed'), undefined)
  })

  it('is not found in the folder of something else', async () => {
    const dir = dirOf('plane')
    await mkdir(join(dir, 'pki'), {recursive: true})
    await writeFile(join(dir, 'config.yaml'), '')
    assert.equal(await findNodeFolder(dir), undefined)
    await assert.rejects(planLeave(dir), {
      code: 'NOT_FOUND',
      message: /there is no node/,
      // It was named: naming it is no advice.
      suggestions: ['check the name: the folder of a node contains cluster-info.yaml'],
    })
  })
})
