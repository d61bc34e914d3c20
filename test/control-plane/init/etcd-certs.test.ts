import assert from 'node:assert/strict'
import {chmod, mkdir, readFile, readdir, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {listAuthorities} from '../../../src/control-plane/ca-rotation/authorities.ts'
import {wholeCatalog} from '../../../src/control-plane/certificates.ts'
import {withOwnFiles} from '../../../src/control-plane/config/etcd.ts'
import {fileOf} from '../../../src/control-plane/config/plane.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {checkExpiration} from '../../../src/control-plane/expiration.ts'
import {certsOf, commandToCreate} from '../../../src/control-plane/init/certs.ts'
import {commandsToUseEtcd, etcdFlagsFor} from '../../../src/control-plane/init/etcd-command.ts'
import {CERT_NAMES, type CertName} from '../../../src/control-plane/init/names.ts'
import {renewCertificates} from '../../../src/control-plane/renew.ts'
import {planReset} from '../../../src/control-plane/reset.ts'
import {catalogFor, SERVICE_ACCOUNT_KEYS} from '../../../src/pki/catalog.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const OF_ETCD = ['apiserver-etcd-client', 'etcd-server', 'etcd-peer', 'etcd-healthcheck-client']

describe('init phase certs, by name', () => {
  let fixture: PlaneFixture
  beforeEach(async () => (fixture = await planeFixture()))
  afterEach(() => rm(fixture.context.plane.dir, {recursive: true, force: true}))

  const run = (name: CertName) => certsOf(name).run(fixture.context)
  const pki = (...parts: string[]) => join(fixture.context.plane.dir, 'pki', ...parts)
  const leaves = async () =>
    (await wholeCatalog(fixture.context.plane)).leaves.map(({id}) => id).filter(isOfEtcd)
  const isOfEtcd = (id: string) => OF_ETCD.includes(id)

  it('has a name for everything in the catalog, and kubeadm has the same', () => {
    const {authorities, leaves} = catalogFor({externalEtcd: true})
    const pairs = leaves.filter(({place}) => place.kind === 'pair')
    const ids = [...authorities, ...pairs, SERVICE_ACCOUNT_KEYS].map(({id}) => id)
    assert.deepEqual([...CERT_NAMES].sort(), [...ids, 'all', 'etcd'].sort())
  })

  it('creates nothing of an etcd unless it is named', async () => {
    await run('all')
    assert.equal((await readdir(pki())).includes('etcd'), false)
    assert.deepEqual(await leaves(), [])
    await run('etcd')
    assert.deepEqual((await readdir(pki('etcd'))).sort(), [
      'ca.crt',
      'ca.key',
      'healthcheck-client.crt',
      'healthcheck-client.key',
      'peer.crt',
      'peer.key',
      'server.crt',
      'server.key',
    ])
    assert.deepEqual(await leaves(), OF_ETCD)
    const listed = await listAuthorities(fixture.context.plane, systemClock)
    assert.deepEqual(listed.find(({name}) => name === 'etcd-ca')?.signsFor, OF_ETCD)
    const before = await readFile(pki('etcd/server.crt'), 'utf8')
    await run('etcd')
    assert.equal(await readFile(pki('etcd/server.crt'), 'utf8'), before, 'it is kept')
  })

  it('is what creates a CA that has no name there', () => {
    const {plane} = fixture.context
    assert.equal(
      commandToCreate(plane, 'client-ca'),
      `trustadm init phase certs --dir ${plane.dir}`,
    )
  })

  it('creates one at a time, and says which CA is missing', async () => {
    await assert.rejects(run('etcd-peer'), {
      code: 'NOT_FOUND',
      message: 'there is no CA "etcd-ca" to sign "etcd-peer"',
      suggestions: [
        `create it with "trustadm init phase certs etcd-ca --dir ${fixture.context.plane.dir}"`,
      ],
    })
    await run('etcd-ca')
    await run('etcd-peer')
    assert.deepEqual(await leaves(), ['etcd-peer'])
    assert.deepEqual(await certsOf('etcd').plan(fixture.context), [
      `create "apiserver-etcd-client" in ${pki('apiserver-etcd-client.crt')}`,
      `create "etcd-server" in ${pki('etcd/server.crt')}`,
      `create "etcd-healthcheck-client" in ${pki('etcd/healthcheck-client.crt')}`,
    ])
  })

  it('renews what it made of an etcd, and leaves alone what was brought', async () => {
    await run('all')
    await fixture.run('kubeconfig')
    const {plane} = fixture.context
    await assert.rejects(renewCertificates(plane, 'etcd-server', systemClock), {code: 'NOT_FOUND'})
    await run('etcd')
    const brought = `${await readFile(pki('etcd/peer.crt'), 'utf8')}\n`
    await writeFile(pki('etcd/peer.crt'), brought)
    const {renewed, backups} = await renewCertificates(plane, 'all', systemClock)
    const names = renewed.map(({name}) => name).filter(isOfEtcd)
    assert.deepEqual(
      [names, backups],
      [['apiserver-etcd-client', 'etcd-server', 'etcd-healthcheck-client'], []],
    )
    assert.equal(await readFile(pki('etcd/peer.crt'), 'utf8'), brought)
    const {files, kept} = await planReset(plane)
    assert.ok(files.includes(pki('etcd/ca.key')) && files.includes(pki('etcd/server.key')))
    assert.deepEqual(kept, [pki('etcd/peer.crt'), pki('etcd/peer.key')])
  })

  it('does not touch what an operator provided for an etcd: another user reads its keys', async () => {
    await run('etcd')
    const {plane} = fixture.context
    await rm(fileOf(plane, 'manifest'))
    await run('all')
    await fixture.run('kubeconfig')
    const keys = ['etcd/ca.key', 'etcd/server.key', 'apiserver-etcd-client.key'].map((key) =>
      pki(key),
    )
    for (const key of keys) await chmod(key, 0o640)
    const {certificates, certificateAuthorities} = await checkExpiration(plane, systemClock)
    const {renewed} = await renewCertificates(plane, 'all', systemClock)
    const names = [...certificates, ...certificateAuthorities, ...renewed].map(({name}) => name)
    assert.deepEqual([names.filter(isOfEtcd), names.includes('etcd-ca')], [[], false])
    for (const key of keys) assert.equal((await stat(key)).mode & 0o777, 0o640)
  })

  it('is what a server on that etcd uses, unless files are named or there is no TLS', async () => {
    await run('etcd')
    const own = {
      etcdCaFile: pki('etcd/ca.crt'),
      etcdCertFile: pki('apiserver-etcd-client.crt'),
      etcdKeyFile: pki('apiserver-etcd-client.key'),
    }
    const etcdServers = ['https://127.0.0.1:2379']
    const {plane} = fixture.context
    await savePlane(plane)
    const {settings} = await resolvePlane({dir: plane.dir, flags: {etcdServers}})
    const {etcdCaFile, etcdCertFile, etcdKeyFile} = settings
    assert.deepEqual({etcdCaFile, etcdCertFile, etcdKeyFile}, own)
    assert.deepEqual(settings.etcdServers, etcdServers)
    for (const chosen of [
      {etcdServers: ['http://127.0.0.1:2379']},
      {etcdServers, etcdCaFile: '/other.crt'},
      {},
    ])
      assert.deepEqual(await withOwnFiles(pki(), chosen), chosen)
    await rm(pki('apiserver-etcd-client.key'))
    assert.deepEqual(await withOwnFiles(pki(), {etcdServers}), {etcdServers})
  })

  it('says how to start etcd, and what to do then', async () => {
    const {plane} = fixture.context
    const six = {...plane, settings: {...plane.settings, advertiseAddress: 'fd00::1'}}
    const flags = new Map(etcdFlagsFor(six).map(([flag, value]) => [flag, value]))
    assert.equal(flags.get('--listen-client-urls'), 'https://127.0.0.1:2379,https://[fd00::1]:2379')
    assert.equal(
      flags.get('--initial-cluster'),
      `${plane.settings.nodeName}=https://[fd00::1]:2380`,
    )
    const [first] = await commandsToUseEtcd(six)
    assert.match(first ?? '', /^trustadm init --etcd-servers https:\/\/\[fd00::1\]:2379 --dir /)
    await mkdir(join(plane.dir, 'store'), {recursive: true})
    await writeFile(join(plane.dir, 'store', 'data.mdb'), '')
    const words = (await commandsToUseEtcd(six)).map((line) => line.split(' ')[1])
    assert.deepEqual(words, ['stop', 'backup', 'restore', 'start'])
    const onEtcd = {...six, settings: {...six.settings, etcdServers: ['https://[fd00::1]:2379']}}
    assert.deepEqual(await commandsToUseEtcd(onEtcd), [])
  })
})
