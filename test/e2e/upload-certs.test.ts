import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdtemp, readFile, rm, stat} from 'node:fs/promises'
import {createServer, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parse, stringify} from 'yaml'
import type {Secret} from '../../src/api/core.ts'
import {openWith, parseCertificateKey, sealWith} from '../../src/bootstrap/certificate-key.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {InitResult} from '../../src/control-plane/init/init.ts'
import {itEmbedded} from '../helpers/on-etcd.ts'
import {programFixture, trustadm, trustadmWith, type ProgramFixture} from '../helpers/program.ts'

const SECRET = {namespace: 'kube-system', name: 'kubeadm-certs'}
const ADDRESS = ['--bind-address', '127.0.0.1', '--apiserver-bind-port', '0']

describe('init --upload-certs and join --control-plane, with the built program', function () {
  this.timeout(90_000)
  let fixture: ProgramFixture
  let made: InitResult
  let admin: ApiClient
  let folder = ''

  before(async () => {
    fixture = await programFixture()
    const ended = await fixture.init(
      ...['--upload-certs', '--apiserver-advertise-address', '127.0.0.1', '--output', 'json'],
    )
    assert.equal(ended.code, 0, ended.stderr)
    made = JSON.parse(ended.stdout) as InitResult
    admin = await connect(made.kubeconfig)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-upload-'))
  })
  after(async () => {
    await admin.close()
    await fixture.remove()
    await rm(folder, {recursive: true, force: true})
  })

  const words = () => (made.controlPlaneJoinCommand ?? '').split(' ').slice(1)
  const joinIn = (name: string, ...more: string[]) =>
    trustadm(
      ...[...words(), '--dir', join(folder, name), '--node-name', name, ...ADDRESS],
      ...['--output', 'json', ...more],
    )

  it('keeps the CAs encrypted in kubeadm-certs, owned by a token of two hours without usages', async () => {
    const secret = await admin.secrets.get(SECRET)
    const key = parseCertificateKey(made.certificateKey ?? '')
    const value = Buffer.from(secret.data?.['ca.key'] ?? '', 'base64')
    const expected = await readFile(join(fixture.dir, 'pki', 'ca.key'))
    assert.deepEqual(openWith(key, value), expected)
    assert.equal(JSON.stringify(secret).includes(expected.toString('base64').slice(0, 40)), false)
    for (const name of ['front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.pub', 'sa.key', 'ca.crt']) {
      assert.notEqual(openWith(key, Buffer.from(secret.data?.[name] ?? '', 'base64')), undefined)
    }
    const [owner] = secret.metadata.ownerReferences ?? []
    assert.deepEqual(
      [owner?.kind, owner?.controller, owner?.blockOwnerDeletion],
      ['Secret', true, true],
    )
    const token = await admin.secrets.get({namespace: 'kube-system', name: owner?.name ?? ''})
    assert.equal(token.metadata.uid, owner?.uid)
    const text = (name: string) => Buffer.from(token.data?.[name] ?? '', 'base64').toString()
    assert.equal(text('description'), 'Proxy for managing TTL for the kubeadm-certs secret')
    assert.equal(text('usage-bootstrap-authentication') + text('usage-bootstrap-signing'), '')
    const left = Date.parse(text('expiration')) - Date.parse(token.metadata.creationTimestamp ?? '')
    assert.ok(Math.abs(left - 7_200_000) < 60_000, `${left}`)
  })

  itEmbedded('starts no second, empty cluster with the same CAs, and writes nothing', async () => {
    const ended = await joinIn('second')
    assert.equal(ended.code, 6, ended.stderr)
    assert.match(ended.stderr, /would be another, empty cluster with the same CAs/)
    assert.match(ended.stderr, /--etcd-servers/)
    await assert.rejects(stat(join(folder, 'second')), {code: 'ENOENT'})
  })

  itEmbedded('goes to no etcd that somebody has written into kubeadm-config', async () => {
    let asked = 0
    const evil = createServer(() => (asked += 1)).listen(0, '127.0.0.1')
    await once(evil, 'listening')
    const endpoints = [`http://127.0.0.1:${(evil.address() as AddressInfo).port}`]
    const found = await admin.configMaps.get({namespace: 'kube-system', name: 'kubeadm-config'})
    const settings = parse(found.data?.ClusterConfiguration ?? '') as object
    const lure = stringify({...settings, etcd: {external: {endpoints}}})
    const data = {...found.data, ClusterConfiguration: lure}
    const {metadata} = await admin.configMaps.update({...found, data})
    try {
      const ended = await joinIn('lured')
      assert.equal(ended.code, 6, ended.stderr)
      assert.equal(asked, 0)
      await assert.rejects(stat(join(folder, 'lured')), {code: 'ENOENT'})
    } finally {
      await admin.configMaps.update({...found, metadata})
      evil.close()
    }
  })

  it('uses nothing with another key, and writes nothing', async () => {
    const other = '00'.repeat(32)
    const line = words().map((word) => (word === made.certificateKey ? other : word))
    const ended = await trustadm(...line, '--dir', join(folder, 'none'), ...ADDRESS, '-o', 'json')
    assert.equal(ended.code, 3, ended.stderr)
    assert.match(ended.stderr, /CERTS_UNUSABLE/)
    await assert.rejects(stat(join(folder, 'none')), {code: 'ENOENT'})
  })

  it('refuses CAs that do not belong together', async () => {
    const secret: Secret = await admin.secrets.get(SECRET)
    const key = parseCertificateKey(made.certificateKey ?? '')
    const wrong = sealWith(key, await readFile(join(fixture.dir, 'pki', 'front-proxy-ca.key')))
    const data = {...secret.data, 'ca.key': wrong.toString('base64')}
    const changed = await admin.secrets.update({...secret, data})
    const ended = await joinIn('mixed')
    assert.equal(ended.code, 3)
    assert.match(ended.stderr, /the CA \\"ca\\" do not belong together/)
    await admin.secrets.update({...changed, data: secret.data ?? {}})
  })

  it('takes a key from the command "certificate certificate-key", from the standard input', async () => {
    const {stdout: key} = await trustadm('certs', 'certificate-key')
    assert.match(key, /^[0-9a-f]{64}\n$/)
    const ended = await trustadmWith(
      {input: key},
      ...['init', 'phase', 'upload-certs', '--dir', fixture.dir, '--certificate-key', '-'],
    )
    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(ended.stdout, key)
    const {data = {}} = await admin.secrets.get(SECRET)
    const opened = openWith(
      parseCertificateKey(key.trim()),
      Buffer.from(data['ca.crt'] ?? '', 'base64'),
    )
    assert.equal(opened?.toString(), await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8'))
  })

  it('says how to upload them when there are none', async () => {
    await admin.secrets.delete(SECRET)
    const ended = await joinIn('late')
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /trustadm init phase upload-certs/)
    const line = words().filter(
      (word) => !['--certificate-key', made.certificateKey].includes(word),
    )
    const without = await trustadm(...line, '--dir', join(folder, 'none'))
    assert.equal(without.code, 2)
    assert.match(without.stderr, /--control-plane needs --certificate-key/)
  })
})
