import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiObject} from '../../src/api/meta.ts'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf} from '../../src/pki/issuer.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys, privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import {joinBy, joinFixture, parseResult, type JoinFixture} from '../helpers/joining.ts'
import {trustadm} from '../helpers/program.ts'
import {eventually} from '../controllers/signing/support.ts'

const DAY = 86_400_000

interface TokenRequest extends ApiObject {
  status?: {token: string}
}

describe('a CA and a service-account key that are added to a running server', function () {
  this.timeout(120_000)
  let fixture: JoinFixture
  let client: ApiClient
  let old: string
  const pki = (name: string) => join(fixture.dir, 'pki', name)
  const access = async () =>
    resolveAccess(await loadKubeconfig(join(fixture.dir, 'super-admin.conf')))
  const dataOf = async (key: string) => (await client.configMaps.get(key)).data ?? {}
  const reload = async () => process.kill(await fixture.serverPid(), 'SIGHUP')
  const tokenOf = async () => {
    const body: TokenRequest = {metadata: {}, spec: {}}
    const answer = await client.serviceAccounts.createSubresource('default/default', 'token', body)
    return answer.status?.token ?? ''
  }
  const userOf = async (credentials: Partial<Parameters<typeof connectTo>[0]>) => {
    const {server} = await access()
    const caller = connectTo({server, ca: old, ...credentials}, {retry: {attempts: 1}})
    try {
      const {status} = await caller.selfSubjectReviews.create({metadata: {}})
      return status?.userInfo?.username
    } finally {
      await caller.close()
    }
  }
  const bearer = (token: string) => ({bearerToken: () => Promise.resolve(token)})

  before(async () => {
    fixture = await joinFixture()
    client = await connect(join(fixture.dir, 'super-admin.conf'))
    old = await readFile(pki('ca.crt'), 'utf8')
  })
  after(async () => {
    await client.close()
    await fixture.remove()
  })

  it('reach everybody without a restart, and no request fails', async () => {
    const pid = await fixture.serverPid()
    const early = await tokenOf()
    const now = new Date()
    const caKeys = await generateKeys()
    const next = await createAuthorityCertificate(
      {commonName: 'kubernetes'},
      caKeys,
      authorityValidity(now, 30 * DAY),
    )
    const newcomer = await generateKeys()
    const certificate = await issueLeaf(createIssuer(parseCertificate(next), caKeys.privateKey), {
      subject: {commonName: 'newcomer', organizations: ['others']},
      names: NO_NAMES,
      publicKey: newcomer.publicKey,
      usages: ['digital signature', 'client auth'],
      validity: authorityValidity(now, DAY),
    })
    const clientCertificate = {certificate, key: privateKeyPem(newcomer.privateKey)}
    await assert.rejects(userOf({clientCertificate}), {code: 'UNAUTHORIZED'})

    // A watch, and requests one after the other on connections of their own and on kept ones.
    const ends = new AbortController()
    const seen: string[] = []
    const watching = (async () => {
      const select = {namespace: 'default', signal: ends.signal}
      for await (const {object} of client.configMaps.watch(select))
        seen.push(object.metadata.name ?? '')
    })()
    let isOver = false
    const failures: unknown[] = []
    let answered = 0
    const callers = [() => userOf(bearer(early)), () => client.version(), () => client.version()]
    const calling = callers.map(async (call) => {
      while (!isOver) {
        await call().then(
          () => answered++,
          (error: unknown) => failures.push(error),
        )
      }
    })

    const {publicKey, privateKey} = await generateKeys()
    const believed = await readFile(pki('sa.pub'), 'utf8')
    const bundle = old + next
    await writeFile(pki('ca.crt'), bundle)
    await writeFile(pki('sa.pub'), publicKeyPem(publicKey) + believed)
    await writeFile(pki('sa.key'), privateKeyPem(privateKey), {mode: 0o600})
    await reload()

    await eventually(async () => (await userOf({clientCertificate}).catch(() => '')) === 'newcomer')
    const authentication = 'kube-system/extension-apiserver-authentication'
    await eventually(async () => (await dataOf(authentication))['client-ca-file'] === bundle)
    for (const namespace of [
      'default',
      'kube-system',
      'kube-public',
      'kube-node-lease',
      'trustadm-system',
    ]) {
      const key = `${namespace}/kube-root-ca.crt`
      await eventually(async () => (await dataOf(key))['ca.crt'] === bundle)
    }
    await eventually(async () => {
      const {kubeconfig = ''} = await dataOf('kube-public/cluster-info')
      return parseClusterInfo(kubeconfig).ca === bundle
    })
    await eventually(async () => (await access()).ca === bundle)
    const {keys} = JSON.parse(await client.raw('/openid/v1/jwks')) as {keys: unknown[]}
    assert.equal(keys.length, 2)
    const late = await tokenOf()
    for (const token of [early, late])
      assert.equal(await userOf(bearer(token)), 'system:serviceaccount:default:default')

    // A new join line pins both, and the node is signed by the CA that signs.
    const line = parseResult(
      await trustadm('token', 'create', '--print-join-command', '--dir', fixture.dir, '-o', 'json'),
    ) as {joinCommand: string}
    fixture.line = line.joinCommand.split(' ').slice(2)
    const joined = await joinBy(fixture, 'token', 'trusting')
    assert.equal(joined.code, 0, joined.stderr)
    const log = await trustadm('certificate', 'log', '--dir', fixture.dir, '--output', 'json')
    const {entries} = parseResult(log) as {entries: {issuerFingerprint?: string}[]}
    assert.equal(entries.at(-1)?.issuerFingerprint, parseCertificate(old).fingerprint)

    await client.configMaps.create({metadata: {name: 'marker', namespace: 'default'}})
    await eventually(() => Promise.resolve(seen.includes('marker')))
    isOver = true
    await Promise.all(calling)
    ends.abort()
    await watching.catch(() => undefined)
    assert.deepEqual(failures, [])
    assert.ok(answered > 0)
    assert.equal(await fixture.serverPid(), pid)
  })

  it('are not taken up in part: a file that cannot be used leaves everything as it was, and the log says why', async () => {
    const key = await readFile(pki('sa.key'))
    const bundle = await readFile(pki('ca.crt'), 'utf8')
    await writeFile(pki('ca.crt'), old)
    await writeFile(pki('sa.key'), 'nonsense')
    await reload()
    const log = join(fixture.dir, 'logs', 'server.log')
    await eventually(async () =>
      (await readFile(log, 'utf8')).includes('were not reread, the old ones stay in use: '),
    )
    const data = await dataOf('kube-system/extension-apiserver-authentication')
    assert.equal(data['client-ca-file'], bundle)
    await writeFile(pki('sa.key'), key)
    await writeFile(pki('ca.crt'), bundle)
  })
})
