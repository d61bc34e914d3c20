import assert from 'node:assert/strict'
import {cp, mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect as connectTls} from 'node:tls'
import {once} from 'node:events'
import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import type {Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {findAuthority, leafOptions} from '../../../src/control-plane/certificates.ts'
import {ensureAuthority} from '../../../src/pki/authority.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {AUTHORITIES, catalogFor} from '../../../src/pki/catalog.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {renewLeaf} from '../../../src/pki/leaf.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

const LEAVES = catalogFor({externalEtcd: true}).leaves.filter((one) => one.authority === 'etcd-ca')

describeWithEtcd('the rotation of its CA', function () {
  this.timeout(60_000)
  let dir: string
  let aside: string
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let etcd: EtcdCluster
  let written = 0
  const pki = (name: string) => join(dir, 'pki', name)

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-plane-'))
    aside = `${dir}.aside`
    // As kubeadm does, the files of etcd are created before there is one.
    const {plane} = (await planeFixture({}, dir)).context
    for (const spec of AUTHORITIES.filter(({id}) => id === 'etcd-ca'))
      await ensureAuthority(join(dir, 'pki'), spec, {}, systemClock)
    const authority = await findAuthority(plane, 'etcd-ca')
    assert.ok(authority)
    for (const leaf of LEAVES)
      await renewLeaf(authority, leaf, await leafOptions(plane, leaf), systemClock)
    const args = ['--client-cert-auth', '--trusted-ca-file', pki('etcd/ca.crt')]
    args.push('--cert-file', pki('etcd/server.crt'), '--key-file', pki('etcd/server.key'))
    etcd = await startEtcd({scheme: 'https', args})

    const client = {etcdCertFile: `${pki('apiserver-etcd-client')}.crt`}
    const key = {etcdKeyFile: `${pki('apiserver-etcd-client')}.key`}
    const where = {etcdServers: etcd.servers, etcdCaFile: pki('etcd/ca.crt')}
    fixture = await planeFixture({...where, ...client, ...key}, dir)
    await fixture.run('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
    await cp(join(dir, 'pki'), aside, {recursive: true})
  })
  after(async () => {
    await stop()
    await etcd.stop()
    await rm(aside, {recursive: true, force: true})
  })

  const context = (ignored: string[] = []) => ({...contextFor(fixture.context.plane), ignored})
  const act = (action: Action, ignored?: string[]) =>
    rotate(context(ignored), action, {wait: false, only: ['etcd-ca'], observer})
  const restart = async () => {
    for (const member of etcd.members) {
      await member.kill('SIGTERM')
      await member.start()
    }
  }
  const bundleOf = async (folder: string) =>
    parseBundle(await readFile(join(folder, 'etcd/ca.crt'), 'utf8'))
  const issuers = async () => {
    const files = LEAVES.map(({place}) => (place.kind === 'pair' ? pki(place.crt) : ''))
    const leaves = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    return new Set(leaves.map((text) => parseCertificate(text).issuer.commonName))
  }
  /** The CA of what etcd presents now. */
  const presented = async () => {
    const port = Number(new URL(etcd.servers[0] ?? '').port)
    const socket = connectTls({port, host: '127.0.0.1', rejectUnauthorized: false})
    try {
      await once(socket, 'secureConnect')
      const {raw} = socket.getPeerCertificate()
      return parseCertificate(`-----BEGIN CERTIFICATE-----
${raw.toString('base64')}
-----END CERTIFICATE-----
`).issuer.commonName
    } finally {
      socket.destroy()
    }
  }
  /** The server of the control plane, which is never restarted, still writes to etcd. */
  const requireWritable = async () => {
    const client = await connectAsAdmin(fixture.context.plane)
    try {
      const name = `written-${written++}`
      await eventually(() =>
        client.configMaps
          .create({metadata: {namespace: 'default', name}})
          .then(() => true)
          .catch(() => false),
      )
    } finally {
      await client.close()
    }
  }
  /** Whether etcd accepts a program with a client certificate and the CAs from this folder. */
  const isAccepted = async (client: string, authority = client) => {
    const settings = {
      servers: etcd.servers,
      prefix: '/another',
      caFile: join(authority, 'etcd/ca.crt'),
      certFile: join(client, 'etcd/healthcheck-client.crt'),
      keyFile: join(client, 'etcd/healthcheck-client.key'),
    }
    try {
      await (await openEtcdStorage(settings, {patience: 1000})).close()
      return true
    } catch {
      return false
    }
  }

  it('keeps the server of the control plane at work through start, complete and two restarts of etcd', async () => {
    await act('start')
    assert.equal((await bundleOf(join(dir, 'pki'))).length, 2)
    assert.deepEqual([await issuers(), await presented()], [new Set(['etcd-ca']), 'etcd-ca'])
    await requireWritable()
    // It does not know the new CA yet, whatever an operator says.
    const refused = {code: 'CA_STILL_IN_USE', message: /does not trust the new CA.*restart every/}
    await assert.rejects(act('complete'), refused)
    await assert.rejects(act('complete', ['etcd']), refused)
    const unready = async () => (await reportRotation(context())).dependents.map(({name}) => name)
    assert.deepEqual(await unready(), etcd.servers)

    await restart()
    await requireWritable()
    // Where members talk to each other, this one uses no TLS.
    assert.deepEqual(await unready(), [])
    const {journal} = await act('complete')
    assert.equal(journal.phase, 'Completed')
    const [authority, ...others] = await bundleOf(join(dir, 'pki'))
    const name = authority?.subject.commonName ?? ''
    assert.match(name, /^etcd-ca@\d+$/)
    assert.deepEqual([others, await issuers(), await presented()], [[], new Set([name]), name])
    await requireWritable()
    assert.deepEqual(
      [await isAccepted(join(dir, 'pki')), await isAccepted(aside, join(dir, 'pki'))],
      [true, true],
    )
    assert.equal(await isAccepted(join(dir, 'pki'), aside), false, 'the old CA verifies nothing')

    await restart()
    await requireWritable()
    assert.deepEqual(
      [await isAccepted(join(dir, 'pki')), await isAccepted(aside, join(dir, 'pki'))],
      [true, false],
    )
    assert.match((await reportRotation(context())).advice.join(), /Restart etcd/)
  })
})
