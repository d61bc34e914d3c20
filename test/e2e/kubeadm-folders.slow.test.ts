import assert from 'node:assert/strict'
import {X509Certificate} from 'node:crypto'
import {copyFile, readFile, readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ExpirationReport} from '../../src/control-plane/expiration.ts'
import type {StatusReport} from '../../src/control-plane/status.ts'
import {VERSION} from '../../src/version.ts'
import {sharedCluster} from '../helpers/cluster.ts'
import {makeKubeadmFolders, type KubeadmFixture} from '../helpers/kubeadm-folders.ts'
import {trustadm} from '../helpers/program.ts'

const NAMES = [
  'admin.conf',
  'apiserver',
  'apiserver-etcd-client',
  'apiserver-kubelet-client',
  'controller-manager.conf',
  'etcd-healthcheck-client',
  'etcd-peer',
  'etcd-server',
  'front-proxy-client',
  'scheduler.conf',
  'super-admin.conf',
]

describe('the folders of a kubeadm control plane, with the built program', function () {
  this.timeout(60_000)
  let fixture: KubeadmFixture
  beforeEach(async () => {
    fixture = await makeKubeadmFolders()
  })
  afterEach(() => rm(fixture.folder, {recursive: true, force: true}))

  const flags = () => ['--cert-dir', fixture.certDir]
  const certificate = async (name: string) =>
    new X509Certificate(await readFile(join(fixture.certDir, `${name}.crt`)))

  it('are read as ours are by check-expiration, without a problem', async () => {
    const ended = await trustadm('certificate', 'check-expiration', ...flags(), '-o', 'json')
    assert.equal(ended.code, 0, ended.stderr)
    const report = JSON.parse(ended.stdout) as ExpirationReport
    assert.deepEqual(report.certificates.map(({name}) => name).sort(), NAMES)
    assert.deepEqual(report.certificateAuthorities.map(({name}) => name).sort(), [
      'ca',
      'etcd-ca',
      'front-proxy-ca',
    ])
    const all = [...report.certificates, ...report.certificateAuthorities]
    assert.deepEqual(
      all.filter(({problems}) => problems.length > 0),
      [],
    )
  })

  it('need neither etcd nor super-admin.conf, but what is missing besides is reported', async () => {
    await rm(join(fixture.certDir, 'etcd'), {recursive: true})
    await rm(join(fixture.certDir, 'apiserver-etcd-client.crt'))
    await rm(join(fixture.kubeconfigDir, 'super-admin.conf'))
    await rm(join(fixture.kubeconfigDir, 'scheduler.conf'))
    const ended = await trustadm('certificate', 'check-expiration', ...flags(), '-o', 'json')
    const {certificates} = JSON.parse(ended.stdout) as ExpirationReport
    const missing = certificates.filter(({problems}) => problems.length > 0)
    assert.deepEqual(
      missing.map(({name, problems}) => [name, problems]),
      [['scheduler.conf', ['it is missing']]],
    )
    assert.equal(
      certificates.some(({name}) => name.includes('etcd')),
      false,
    )
  })

  it('get new certificates with the subject, names and kind of key of the old ones', async () => {
    const before = await Promise.all(['apiserver', 'etcd/server'].map(certificate))
    const ended = await trustadm('certs', 'renew', 'all', ...flags(), '-o', 'json')
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stderr, /restart kube-apiserver/)
    const after = await Promise.all(['apiserver', 'etcd/server'].map(certificate))
    for (const [index, old] of before.entries()) {
      const renewed = after[index]
      assert.ok(renewed)
      assert.notEqual(renewed.serialNumber, old.serialNumber)
      assert.equal(renewed.subject, old.subject)
      assert.deepEqual(
        renewed.subjectAltName?.split(', ').sort(),
        old.subjectAltName?.split(', ').sort(),
      )
      assert.equal(renewed.publicKey.asymmetricKeyType, 'rsa')
    }
    const config = await readKubeconfig(join(fixture.kubeconfigDir, 'controller-manager.conf'))
    const {server, clientCertificate} = await resolveAccess(config)
    assert.equal(server, 'https://10.0.0.10:6443/')
    assert.match(
      new X509Certificate(clientCertificate?.certificate ?? '').subject,
      /CN=system:kube-controller-manager/,
    )
    const left = await readdir(fixture.kubeconfigDir)
    assert.deepEqual(left.sort(), [...fixture.kubeconfigs, 'pki'].sort())
  })

  it('sign kubeconfigs for users', async () => {
    const ended = await trustadm('kubeconfig', 'user', '--client-name', 'ada', ...flags())
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stdout, /server: https:\/\/10\.0\.0\.10:6443/)
    const ca = await certificate('ca')
    const [, data = ''] = /client-certificate-data: (\S+)/.exec(ended.stdout) ?? []
    assert.ok(new X509Certificate(Buffer.from(data, 'base64')).verify(ca.publicKey))
  })

  it('are shown by status, with the server that does not respond', async () => {
    const {unreachable} = fixture
    await unreachable()
    const ended = await trustadm('status', '--kubeconfig-dir', fixture.kubeconfigDir, '-o', 'json')
    assert.equal(ended.code, 1, ended.stderr)
    const report = JSON.parse(ended.stdout) as StatusReport
    assert.equal(report.server.running, false)
    assert.equal(report.certificates.certificates.length, NAMES.length)
    assert.equal(report.server.problems.length, 1)
  })

  it('are shown by status with the servers that have Leases', async () => {
    const {dir} = await sharedCluster()
    await copyFile(join(dir, 'admin.conf'), join(fixture.kubeconfigDir, 'admin.conf'))
    const ended = await trustadm('status', ...flags(), '-o', 'json')
    const {server, servers, differences} = JSON.parse(ended.stdout) as StatusReport
    assert.deepEqual([server.ready, server.problems, differences], [true, [], []])
    assert.deepEqual(
      servers.map(({version, alive}) => [version, alive]),
      [[VERSION, true]],
    )
  })

  it('are refused where there is no CA, with where to look', async () => {
    const empty = join(fixture.folder, 'nothing')
    const ended = await trustadm('certs', 'check-expiration', '--cert-dir', empty)
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /there is no ca\.crt in/)
    const both = await trustadm('certs', 'check-expiration', ...flags(), '--dir', empty)
    assert.equal(both.code, 2)
  })
})
