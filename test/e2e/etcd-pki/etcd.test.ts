import assert from 'node:assert/strict'
import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {readFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {RestoreReport} from '../../../src/control-plane/backup/restore.ts'
import type {ExpirationReport} from '../../../src/control-plane/expiration.ts'
import {connect} from '../../../src/client/connect.ts'
import {findClient} from '../../helpers/clients.ts'
import {describeWithOwnEtcd, freePorts} from '../../helpers/etcd.ts'
import {LOCAL, programFixture, trustadm, type ProgramFixture} from '../../helpers/program.ts'

const run = promisify(execFile)
const ENTRIES = ['apiserver-etcd-client', 'etcd-server', 'etcd-peer', 'etcd-healthcheck-client']

describeWithOwnEtcd('its PKI, as "init phase certs etcd" makes it', function () {
  this.timeout(120_000)
  let fixture: ProgramFixture
  let etcd: ChildProcess | undefined
  let servers = ''

  before(async () => (fixture = await programFixture()))
  after(async () => {
    await fixture.remove()
    if (etcd?.exitCode !== null) return
    etcd.kill('SIGKILL')
    await once(etcd, 'exit')
  })

  const pki = (name: string) => join(fixture.dir, 'pki', name)
  const works = async (...args: string[]) => {
    const {code, stdout, stderr} = await trustadm(...args, '--dir', fixture.dir)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const etcdctl = (...files: string[]) =>
    run(findClient('etcdctl') ?? 'etcdctl', [
      '--endpoints',
      servers,
      ...files,
      'endpoint',
      'health',
    ])
  const asHealthCheck = () => [
    ...['--cacert', pki('etcd/ca.crt'), '--cert', pki('etcd/healthcheck-client.crt')],
    ...['--key', pki('etcd/healthcheck-client.key')],
  ]
  const move = async (flags: string[], ...how: string[]) => {
    const file = join(fixture.folder, 'one.backup')
    await works('backup', file, ...how)
    return JSON.parse(await works('restore', file, ...flags, '-o', 'json')) as RestoreReport
  }
  const expirations = async () =>
    JSON.parse(await works('certificate', 'check-expiration', '-o', 'json')) as ExpirationReport
  /** Of the certificates for etcd. */
  const dates = async () =>
    (await expirations()).certificates.filter(({name}) => ENTRIES.includes(name))

  it('starts an etcd by the command that it prints, which wants a client certificate', async () => {
    const printed = await works('init', 'phase', 'certs', 'etcd', ...LOCAL)
    const [ports, command = ''] = [await freePorts(2), /^etcd [^]*?[^\\]\n/m.exec(printed)?.[0]]
    const [client = 0, peer = 0] = ports
    const typed = command
      .replace(/^etcd/, findClient('etcd') ?? '')
      .replace('/var/lib/etcd', join(fixture.folder, 'data'))
      .replaceAll(':2379', `:${client}`)
      .replaceAll(':2380', `:${peer}`)
    etcd = spawn('sh', ['-c', `exec ${typed}`], {stdio: 'ignore'})
    servers = `https://127.0.0.1:${client}`
    while (!(await etcdctl(...asHealthCheck()).catch(() => undefined)))
      assert.equal(etcd.exitCode, null, typed)
    await assert.rejects(etcdctl('--cacert', pki('etcd/ca.crt')))
    assert.match(printed, /trustadm init --etcd-servers https:\/\/127\.0\.0\.1:2379 --dir /)
  })

  it('is what init uses for that etcd, unless other files are named', async () => {
    await works('init', '--etcd-servers', servers)
    const config = await readFile(join(fixture.dir, 'config.yaml'), 'utf8')
    assert.match(config, new RegExp(`^etcdCertFile: ${pki('apiserver-etcd-client.crt')}$`, 'm'))
    assert.match(config, new RegExp(`^etcdCaFile: ${pki('etcd/ca.crt')}$`, 'm'))
    await works('status')
  })

  it('is renewed with the other certificates, while etcd and the server work', async () => {
    const before = await dates()
    assert.deepEqual(
      before.map(({name}) => name),
      ENTRIES,
    )
    const old = await readFile(pki('etcd/server.crt'), 'utf8')
    await works('certificate', 'renew', 'all')
    assert.notEqual(await readFile(pki('etcd/server.crt'), 'utf8'), old)
    await etcdctl(...asHealthCheck())
    await works('restart')
    const client = await connect(join(fixture.dir, 'admin.conf'))
    await client.configMaps.create({metadata: {namespace: 'default', name: 'kept'}})
    await client.close()
  })

  it('is found by "restore", which moves all objects away and back over TLS', async () => {
    await works('stop')
    const away = await move(['--to', 'embedded'], '--objects-only')
    // With its files, which etcd wants to see before they are in their place.
    const back = await move(['--force', '--etcd-servers', servers])
    assert.equal(back.keys, away.keys)
    assert.ok((back.revision ?? 0) > (away.revision ?? 0))
    const config = await readFile(join(fixture.dir, 'config.yaml'), 'utf8')
    assert.match(config, new RegExp(`^etcdCertFile: ${pki('apiserver-etcd-client.crt')}$`, 'm'))
    await works('start')
    const client = await connect(join(fixture.dir, 'admin.conf'))
    const found = await client.configMaps.get({namespace: 'default', name: 'kept'})
    assert.ok(Number(found.metadata.resourceVersion) > 0)
    await client.close()
  })

  it('is removed by reset', async () => {
    await works('reset', '--yes')
    await assert.rejects(readdir(pki('')), {code: 'ENOENT'})
  })
})
