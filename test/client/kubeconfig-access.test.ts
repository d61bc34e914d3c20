import assert from 'node:assert/strict'
import {mkdtemp, rename, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import type {Kubeconfig, KubeconfigCluster, KubeconfigUser} from '../../src/client/kubeconfig.ts'
import {TrustError} from '../../src/errors.ts'
import {issue, makeAuthority, type TestAuthority, type TestPair} from './support/certificates.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

function config(cluster: KubeconfigCluster = {}, user: KubeconfigUser = {}): Kubeconfig {
  return {
    'current-context': 'ctx',
    clusters: [{name: 'c', cluster: {server: 'https://10.0.0.1:6443', ...cluster}}],
    contexts: [
      {name: 'ctx', context: {cluster: 'c', user: 'u', namespace: 'ns'}},
      {name: 'anonymous', context: {cluster: 'c', user: ''}},
      {name: 'no-cluster', context: {cluster: 'x', user: 'u'}},
      {name: 'no-user', context: {cluster: 'c', user: 'x'}},
    ],
    users: [{name: 'u', user}],
  }
}

const V1 = 'client.authentication.k8s.io/v1'

describe('resolveAccess', () => {
  let folder: string
  let authority: TestAuthority
  let pair: TestPair

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'access-'))
    authority = await makeAuthority()
    pair = await issue(authority, {name: 'admin', names: {}, usage: 'client auth'})
  })
  after(() => rm(folder, {recursive: true}))

  async function file(name: string, content: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }

  it('takes inline data before files', async () => {
    const access = await resolveAccess(
      config(
        {
          'certificate-authority': '/nowhere',
          'certificate-authority-data': base64(authority.pem),
          'tls-server-name': 'api',
          'proxy-url': 'http://proxy',
        },
        {
          'client-certificate': '/nowhere',
          'client-certificate-data': base64(pair.certificate),
          'client-key': '/nowhere',
          'client-key-data': base64(pair.key),
        },
      ),
    )
    assert.equal(access.ca, authority.pem)
    assert.equal(access.clientCertificate?.key, pair.key)
    assert.deepEqual(
      [access.server, access.namespace, access.tlsServerName, access.proxyUrl, access.insecure],
      ['https://10.0.0.1:6443/', 'ns', 'api', 'http://proxy', false],
    )
  })

  it('reads one file with both key and certificate, through a link, as the kubelet keeps them', async () => {
    const both = await file('kubelet-client-1.pem', pair.certificate + pair.key)
    const link = join(folder, 'kubelet-client-current.pem')
    await symlink(both, link)
    const {clientCertificate} = await resolveAccess(
      config({}, {'client-certificate': link, 'client-key': link}),
    )
    assert.equal(clientCertificate?.certificate.trim(), pair.certificate.trim())
    assert.equal(clientCertificate?.key, pair.key)
  })

  it('never mixes two pairs while a renewal replaces the link', async () => {
    const other = await issue(authority, {name: 'admin', names: {}, usage: 'client auth'})
    const files = [
      await file('renewed-1.pem', pair.certificate + pair.key),
      await file('renewed-2.pem', other.certificate + other.key),
    ]
    const link = join(folder, 'renewed-current.pem')
    await symlink(files[0] ?? '', link)
    const access = config({}, {'client-certificate': link, 'client-key': link})
    let isOver = false
    const renewals = (async () => {
      for (let count = 0; !isOver; count += 1) {
        await symlink(files[count % 2] ?? '', `${link}.new`)
        await rename(`${link}.new`, link)
      }
    })()
    for (let count = 0; count < 200; count += 1) assert.ok(await resolveAccess(access))
    isOver = true
    await renewals
  })

  it('reads the token file anew for every request, and keeps the last one while it is gone', async () => {
    const path = await file('token', 'first\n')
    const {bearerToken} = await resolveAccess(config({}, {token: 'static', tokenFile: path}))
    assert.equal(await bearerToken?.(), 'first')
    await file('token', 'second')
    assert.equal(await bearerToken?.(), 'second')
    await rm(path)
    assert.equal(await bearerToken?.(), 'second')
  })

  it('fails when the token file was never there', async () => {
    const {bearerToken} = await resolveAccess(config({}, {tokenFile: join(folder, 'none')}))
    await assert.rejects(bearerToken?.() ?? Promise.resolve(), {code: 'KUBECONFIG_INVALID'})
  })

  it('impersonates as the kubeconfig says', async () => {
    const {impersonate} = await resolveAccess(
      config({}, {as: 'bob', 'as-groups': ['g'], 'as-user-extra': {k: ['v']}}),
    )
    assert.deepEqual(impersonate, {username: 'bob', groups: ['g'], extra: {k: ['v']}})
  })

  it('takes a context without a user for an anonymous one', async () => {
    const access = await resolveAccess(config({}, {token: 'x'}), {context: 'anonymous'})
    assert.equal(access.bearerToken, undefined)
  })

  it('takes the cluster and the user that are named instead of those of the context', async () => {
    const several: Kubeconfig = {
      ...config(),
      clusters: [...config().clusters, {name: 'd', cluster: {server: 'https://10.0.0.2'}}],
      users: [...config().users, {name: 'v', user: {token: 'of-v'}}],
    }
    const access = await resolveAccess(several, {cluster: 'd', user: 'v'})
    assert.equal(access.server, 'https://10.0.0.2/')
    assert.equal(await access.bearerToken?.(), 'of-v')
    assert.equal(access.namespace, 'ns')
    const alone = await resolveAccess({...several, 'current-context': ''}, {cluster: 'd'})
    assert.equal(alone.server, 'https://10.0.0.2/')
    assert.equal(alone.bearerToken, undefined)
    await assert.rejects(resolveAccess(several, {user: 'w'}), {
      message: /no user "w"/,
      suggestions: ['it has: u, v'],
    })
  })

  it('reads how to run a program, and tells it of the cluster where it is asked to', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: 'aws',
      args: ['eks', 'get-token'],
      env: [{name: 'AWS_PROFILE', value: 'ops'}, {name: 'EMPTY'}],
      installHint: 'install it',
      provideClusterInfo: true,
    }
    const cluster = {
      'certificate-authority-data': base64(authority.pem),
      'tls-server-name': 'api',
      extensions: [
        {name: 'other', extension: {}},
        {name: 'client.authentication.k8s.io/exec', extension: {region: 'eu'}},
      ],
    }
    const access = await resolveAccess(config(cluster, {exec}))
    assert.deepEqual(access.exec, {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: 'aws',
      args: ['eks', 'get-token'],
      env: {AWS_PROFILE: 'ops', EMPTY: ''},
      installHint: 'install it',
      interactiveMode: 'IfAvailable',
      cluster: {
        server: 'https://10.0.0.1:6443',
        'tls-server-name': 'api',
        'certificate-authority-data': base64(authority.pem),
        config: {region: 'eu'},
      },
    })
  })

  it('runs no program for a user that has a token, as client-go', async () => {
    const exec = {apiVersion: V1, command: 'aws', interactiveMode: 'Never'}
    assert.equal((await resolveAccess(config({}, {exec, token: 'abc'}))).exec, undefined)
  })

  it('takes a server without a scheme for an HTTPS one', async () => {
    const {server} = await resolveAccess(config({server: '10.0.0.1:6443'}))
    assert.equal(server, 'https://10.0.0.1:6443/')
  })

  it('speaks plain HTTP with this machine only', async () => {
    const {server} = await resolveAccess(config({server: 'http://127.0.0.1:8001'}))
    assert.equal(server, 'http://127.0.0.1:8001/')
  })

  interface Refusal {
    name: string
    cluster?: KubeconfigCluster
    user?: KubeconfigUser
    context?: string
    files?: boolean
    says: RegExp
  }
  const SECRET = 'hunter2'
  const refusals: Refusal[] = [
    {name: 'a context that is not there', context: 'nope', says: /no context "nope"/},
    {name: 'a cluster that is not there', context: 'no-cluster', says: /no cluster "x"/},
    {name: 'a user that is not there', context: 'no-user', says: /no user "x"/},
    {name: 'no server', cluster: {server: ''}, says: /no server/},
    {
      name: 'plain HTTP to another machine',
      cluster: {server: 'http://10.0.0.1'},
      says: /unencrypted http/,
    },
    {name: 'another scheme', cluster: {server: 'file:///etc'}, says: /not an https/},
    {
      name: 'a password in the server',
      cluster: {server: `https://a:${SECRET}@b`},
      says: /only a host/,
    },
    {
      name: 'a CA that is no certificate',
      cluster: {'certificate-authority-data': base64(SECRET)},
      says: /certificate-authority/,
    },
    {
      name: 'a CA that is not base64',
      cluster: {'certificate-authority-data': `${SECRET}!`},
      says: /not base64/,
    },
    {
      name: 'a CA file that is missing',
      cluster: {'certificate-authority': '/nowhere/ca'},
      says: /does not exist/,
    },
    {
      name: 'a program in content from elsewhere',
      files: false,
      user: {exec: {command: SECRET}},
      says: /\(exec\), but this kubeconfig did not come from a file/,
    },
    {
      name: 'exec of an unknown version',
      user: {exec: {command: 'aws', apiVersion: 'client.authentication.k8s.io/v1alpha1'}},
      says: /an apiVersion other than/,
    },
    {name: 'exec without a command', user: {exec: {apiVersion: V1}}, says: /has no command/},
    {
      name: 'exec of v1 without interactiveMode',
      user: {exec: {apiVersion: V1, command: 'aws', args: [SECRET]}},
      says: /interactiveMode other than Never, IfAvailable, Always/,
    },
    {
      name: 'exec with args of another type',
      user: {exec: {apiVersion: V1, command: 'aws', interactiveMode: 'Never', args: [{SECRET}]}},
      says: /args that are not a list of strings/,
    },
    {
      name: 'exec with a variable without a name',
      user: {
        exec: {apiVersion: V1, command: 'aws', interactiveMode: 'Never', env: [{value: SECRET}]},
      },
      says: /env with an entry that is not a name and a value/,
    },
    {name: 'exec that is no map', user: {exec: [SECRET]}, says: /is not a map/},
    {name: 'an auth-provider', user: {'auth-provider': {name: 'oidc'}}, says: /auth-provider/},
    {
      name: 'a password',
      user: {username: 'a', password: SECRET},
      says: /a user name and a password/,
    },
    {
      name: 'a token with a line break',
      user: {token: `${SECRET}\nx: y`},
      says: /invalid characters/,
    },
    {name: 'a key alone', user: {'client-key-data': base64(SECRET)}, says: /no client-certificate/},
    {
      name: 'files in content from elsewhere',
      files: false,
      user: {tokenFile: '/etc/shadow'},
      says: /did not come from a file/,
    },
    {
      name: 'a CA file in content from elsewhere',
      files: false,
      cluster: {'certificate-authority': '/etc/shadow'},
      says: /did not come from a file/,
    },
  ]
  for (const {name, cluster, user, context, files, says} of refusals) {
    it(`refuses ${name}, with a hint and without showing secrets`, async () => {
      const attempt = async () => {
        const access = await resolveAccess(config(cluster, user), {context, files})
        await access.bearerToken?.()
      }
      await assert.rejects(attempt, (error: TrustError) => {
        assert.equal(error.code, 'KUBECONFIG_INVALID')
        assert.match(error.message, says)
        assert.notEqual(error.suggestions.length, 0)
        const shown = JSON.stringify([error.message, error.suggestions, error.facts, error.stack])
        assert.equal(shown.includes(SECRET), false)
        return true
      })
    })
  }

  it('refuses a CA together with insecure-skip-tls-verify', async () => {
    const cluster = {
      'certificate-authority-data': base64(authority.pem),
      'insecure-skip-tls-verify': true,
    }
    await assert.rejects(resolveAccess(config(cluster)), {code: 'KUBECONFIG_INVALID'})
  })

  it('refuses a key that is not the one of the certificate', async () => {
    const other = await issue(authority)
    const user = {
      'client-certificate-data': base64(pair.certificate),
      'client-key-data': base64(other.key),
    }
    await assert.rejects(resolveAccess(config({}, user)), {
      code: 'KUBECONFIG_INVALID',
      message: /not the key of client-certificate/,
    })
  })

  it('refuses a damaged key without showing it', async () => {
    const damaged = pair.key.replace(/[A-Z]/g, 'Q')
    const user = {
      'client-certificate-data': base64(pair.certificate),
      'client-key-data': base64(damaged),
    }
    await assert.rejects(resolveAccess(config({}, user)), (error: TrustError) => {
      assert.match(error.message, /not an unencrypted PEM private key/)
      assert.equal(error.cause, undefined)
      return true
    })
  })

  it('says where to get a kubeconfig when there is none', async () => {
    const empty = {clusters: [], contexts: [], users: []}
    await assert.rejects(resolveAccess(empty), {message: /no kubeconfig with a current context/})
  })
})
