import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {buildKubeconfig, writeKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {issue, makeAuthority} from './support/certificates.ts'

describe('buildKubeconfig', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
  })
  afterEach(() => rm(folder, {recursive: true}))

  it('names the context as kubeadm does', () => {
    const config = buildKubeconfig({
      server: 'https://a:6443',
      ca: 'pem',
      userName: 'kubernetes-admin',
      namespace: 'ns',
      credentials: {token: 't'},
    })
    assert.equal(config['current-context'], 'kubernetes-admin@kubernetes')
    assert.deepEqual(config.contexts[0]?.context, {
      cluster: 'kubernetes',
      user: 'kubernetes-admin',
      namespace: 'ns',
    })
  })

  it('leaves the CA out where the system vouches for the server, and keeps what else is known of it', () => {
    const config = buildKubeconfig({
      server: 'https://a:6443',
      tlsServerName: 'b',
      extensions: [{name: 'more', extension: {}}],
      userName: 'u',
      credentials: {token: 't'},
    })
    assert.deepEqual(config.clusters[0]?.cluster, {
      extensions: [{name: 'more', extension: {}}],
      server: 'https://a:6443',
      'tls-server-name': 'b',
    })
  })

  const kinds = [
    [
      {certificateFile: '/c', keyFile: '/k'},
      {'client-certificate': '/c', 'client-key': '/k'},
    ],
    [{tokenFile: '/t'}, {tokenFile: '/t'}],
    [{token: 't'}, {token: 't'}],
  ] as const
  for (const [credentials, user] of kinds) {
    it(`writes credentials of ${Object.keys(credentials).join(' and ')}`, () => {
      const spec = {server: 'https://a', ca: 'pem', userName: 'u', credentials}
      assert.deepEqual(buildKubeconfig(spec).users, [{name: 'u', user}])
    })
  }

  it('writes a file that only its owner can read, and that reads back', async () => {
    const authority = await makeAuthority()
    const pair = await issue(authority, {name: 'admin', names: {}, usage: 'client auth'})
    const path = join(folder, 'admin.conf')
    const before = process.umask(0)
    try {
      await writeKubeconfig(
        path,
        buildKubeconfig({
          server: 'https://10.0.0.1:6443',
          ca: authority.pem,
          userName: 'admin',
          credentials: pair,
        }),
      )
    } finally {
      process.umask(before)
    }
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    const access = await resolveAccess(await loadKubeconfig(path))
    assert.equal(access.ca, authority.pem)
    assert.equal(access.clientCertificate?.key, pair.key)
    assert.match(await readFile(path, 'utf8'), /^apiVersion: v1\nkind: Config\n/)
  })
})
