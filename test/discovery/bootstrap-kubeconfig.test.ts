import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {stringify} from 'yaml'
import {clusterInfoIn, readBootstrapKubeconfig} from '../../src/discovery/bootstrap-kubeconfig.ts'
import type {TrustError} from '../../src/errors.ts'
import {makeAuthority} from '../client/support/certificates.ts'

describe('a bootstrap kubeconfig', () => {
  let folder = ''
  let ca = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-bootstrap-'))
    ca = Buffer.from((await makeAuthority('cluster')).pem).toString('base64')
  })
  after(() => rm(folder, {recursive: true}))

  const read = async (cluster: object, user: object) => {
    const path = join(folder, 'bootstrap.conf')
    const config = {
      'current-context': 'c',
      contexts: [{name: 'c', context: {cluster: 'k', user: 'u'}}],
      clusters: [{name: 'k', cluster: {server: 'https://10.0.0.1:6443', ...cluster}}],
      users: [{name: 'u', user}],
    }
    await writeFile(path, stringify(config))
    return await readBootstrapKubeconfig(path)
  }
  const token = {token: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA'}

  it('says which cluster to trust', async () => {
    const access = await read({'certificate-authority-data': ca, 'tls-server-name': 'kube'}, token)
    const info = clusterInfoIn(access)
    assert.match(info, /server: https:\/\/10\.0\.0\.1:6443\n/)
    assert.match(info, /tls-server-name: kube/)
    assert.match(info, /certificate-authority-data: /)
    assert.doesNotMatch(info, /eyJ/)
  })

  for (const [what, cluster, user, message] of [
    ['trusts any server', {'insecure-skip-tls-verify': true}, token, /any server/],
    ['has an http:// address', {server: 'http://127.0.0.1:1'}, token, /no https/],
    ['chooses a proxy', {'proxy-url': 'http://10.0.0.2'}, token, /proxy-url/],
    ['impersonates', {}, {...token, as: 'admin'}, /impersonates/],
    ['has no credential', {}, {}, /neither a client certificate nor a token/],
    ['runs a program', {}, {exec: {command: 'aws'}}, /exec/],
    ['has an auth-provider', {}, {'auth-provider': {name: 'gcp'}}, /auth-provider/],
    ['has a password', {}, {username: 'a', password: 'b'}, /password/],
    ['has half a pair', {}, {'client-certificate': 'missing.crt'}, /missing\.crt/],
  ] as const) {
    it(`that ${what} is refused, by its name`, async () => {
      const error = await read(cluster, user).then(
        () => assert.fail('it was not'),
        (found: unknown) => found as TrustError,
      )
      assert.equal(error.code, 'KUBECONFIG_INVALID')
      assert.match(error.message, message)
      assert.ok(error.message.includes(folder), error.message)
      assert.notDeepEqual(error.suggestions, [])
    })
  }

  it('that does not exist is refused, by its name', async () => {
    await assert.rejects(readBootstrapKubeconfig(join(folder, 'none')), {
      code: 'KUBECONFIG_INVALID',
      message: /none does not exist/,
    })
  })
})
