import assert from 'node:assert/strict'
import {rename} from 'node:fs/promises'
import {join} from 'node:path'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {save, testAuthority, testLeaf, useTemporaryFolder, validAround} from '../../pki/support.ts'
import {bytes} from '../conformance-support.ts'

describeWithEtcd('TLS with client certificates', function () {
  this.timeout(40_000)
  const folder = useTemporaryFolder()
  const path = (name: string) => join(folder(), name)
  let cluster: EtcdCluster
  let authority: Awaited<ReturnType<typeof testAuthority>>

  const around = () => validAround(new Date())
  const saveClient = async (issuer = authority.issuer, name = 'client') => {
    const {pem, keys} = await testLeaf(issuer, {validity: around()})
    await save(folder(), {[`${name}.crt`]: pem, [`${name}.key`]: privateKeyPem(keys.privateKey)})
  }
  const settings = () => ({
    servers: cluster.servers,
    prefix: '/test',
    caFile: path('ca.crt'),
    certFile: path('client.crt'),
    keyFile: path('client.key'),
  })
  const open = (changes: object = {}) =>
    openEtcdStorage({...settings(), ...changes}, {patience: 3_000})

  beforeEach(async () => {
    authority = await testAuthority({validity: around()})
    const server = await testLeaf(authority.issuer, {
      names: {...NO_NAMES, ips: ['127.0.0.1']},
      usages: ['digital signature', 'server auth', 'client auth'],
      validity: around(),
    })
    await save(folder(), {
      'ca.crt': authority.pem,
      'server.crt': server.pem,
      'server.key': privateKeyPem(server.keys.privateKey),
    })
    await saveClient()
    const args = ['--client-cert-auth', '--trusted-ca-file', path('ca.crt')]
    args.push('--cert-file', path('server.crt'), '--key-file', path('server.key'))
    cluster = await startEtcd({scheme: 'https', args})
  })
  afterEach(() => cluster.stop())

  it('works, and uses new files once all of them match', async () => {
    const lines: string[] = []
    const storage = await openEtcdStorage(settings(), {
      patience: 10_000,
      wait: () => undefined,
      tell: (line) => lines.push(line),
    })
    await storage.create('/a', bytes('1'))
    await saveClient(authority.issuer, 'next')
    await rename(path('next.crt'), path('client.crt'))
    await Promise.all(
      Array.from({length: 8}, (_, index) => storage.create(`/b${index}`, bytes('1'))),
    )
    assert.ok(lines.some((line) => line.includes('stay in use')))
    await rename(path('next.key'), path('client.key'))
    const told = lines.length
    // More at once than there are connections yet.
    await Promise.all(
      Array.from({length: 20}, (_, index) => storage.create(`/c${index}`, bytes('1'))),
    )
    assert.equal(lines.length, told)
    await storage.close()
  })

  it('refuses a server of another CA', async () => {
    const {pem} = await testAuthority({commonName: 'other', validity: around()})
    await save(folder(), {'other.crt': pem})
    await assert.rejects(open({caFile: path('other.crt')}), {
      code: 'STORE_UNREACHABLE',
      message: /not trusted/,
    })
  })

  it('says that a client certificate is needed', async () => {
    await assert.rejects(open({certFile: undefined, keyFile: undefined}), {
      code: 'STORE_UNREACHABLE',
    })
  })

  it('refuses a certificate and a key that do not belong together, and files that are missing', async () => {
    await assert.rejects(open({keyFile: path('server.key')}), {code: 'PAIR_MISMATCH'})
    await assert.rejects(open({keyFile: undefined}), {code: 'CONFIG_INVALID'})
    await assert.rejects(open({keyFile: path('ca.crt')}), {code: 'PEM_INVALID'})
    await assert.rejects(open({caFile: path('missing')}), {code: 'FILE_UNREADABLE'})
  })
})

describe('opening etcd', () => {
  for (const [name, settings] of [
    ['no server', {servers: [], prefix: '/a'}],
    ['a server without a scheme', {servers: ['127.0.0.1:2379'], prefix: '/a'}],
    ['a server with a path', {servers: ['http://127.0.0.1:2379/v3'], prefix: '/a'}],
    ['a server with a password', {servers: ['http://a:b@127.0.0.1:2379'], prefix: '/a'}],
    ['an empty prefix', {servers: ['http://127.0.0.1:2379'], prefix: '/'}],
    ['a prefix with a blank', {servers: ['http://127.0.0.1:2379'], prefix: '/a b'}],
  ] as const) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(openEtcdStorage({...settings, servers: [...settings.servers]}), {
        code: 'CONFIG_INVALID',
      })
    })
  }
})
