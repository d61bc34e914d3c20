import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {eventually} from '../controllers/signing/support.ts'
import {isBelieved, requestToken} from '../helpers/service-account-tokens.ts'
import {testAuthority, validAround} from '../pki/support.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

describe('rereading keys and certificates', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  let client: ApiClient
  let lines: string[]
  let old: string
  let next: string
  const own = (name: string) => join(fixture.dir, name)
  const pki = (name: string) => join(fixture.dir, 'pki', name)
  const admin = () => connect(own('super-admin.conf'))
  const caOf = async (name: string) => (await resolveAccess(await loadKubeconfig(own(name)))).ca
  const dataOf = async (key: string) => (await client.configMaps.get(key)).data ?? {}

  beforeEach(async () => {
    lines = []
    fixture = await planeFixture()
    fixture.context.connect = admin
    await fixture.provide('certs', 'kubeconfig')
    const log = (line: string) => void lines.push(line)
    embedded = await startEmbedded(fixture.context.plane, {clock: systemClock, log})
    embedded.followKubeconfigs()
    await fixture.run('namespaces', 'rbac', 'cluster-info')
    client = await admin()
    old = await readFile(pki('ca.crt'), 'utf8')
    next = (await testAuthority({commonName: 'next', validity: validAround(new Date())})).pem
  })
  afterEach(async () => {
    await client.close()
    await embedded.close(0)
    await fixture.remove()
  })

  it('gives a second CA to everybody who is to trust it, and takes it away again', async () => {
    for (const bundle of [old + next, old]) {
      await writeFile(pki('ca.crt'), bundle)
      await embedded.reload()
      const {'client-ca-file': clients} = await dataOf(
        'kube-system/extension-apiserver-authentication',
      )
      assert.equal(clients, bundle)
      for (const namespace of ['default', 'kube-system', 'kube-public']) {
        await eventually(
          async () => (await dataOf(`${namespace}/kube-root-ca.crt`))['ca.crt'] === bundle,
        )
      }
      await eventually(async () => {
        const {kubeconfig = ''} = await dataOf('kube-public/cluster-info')
        return parseClusterInfo(kubeconfig).ca === bundle
      })
      for (const name of ['admin.conf', 'super-admin.conf', 'scheduler.conf'])
        await eventually(async () => (await caOf(name)) === bundle)
    }
    assert.deepEqual(
      lines.filter((line) => line.startsWith('error')),
      [],
    )
  })

  it('publishes new front-proxy CAs', async () => {
    const bundle = (await readFile(pki('front-proxy-ca.crt'), 'utf8')) + next
    await writeFile(pki('front-proxy-ca.crt'), bundle)
    await embedded.reload()
    const data = await dataOf('kube-system/extension-apiserver-authentication')
    assert.equal(data['requestheader-client-ca-file'], bundle)
  })

  it('leaves a kubeconfig alone that somebody has changed', async () => {
    const changed = (await readFile(own('admin.conf'), 'utf8')) + '# mine\n'
    await writeFile(own('admin.conf'), changed)
    await writeFile(pki('ca.crt'), old + next)
    await embedded.reload()
    await eventually(async () => (await caOf('scheduler.conf')) === old + next)
    assert.equal(await readFile(own('admin.conf'), 'utf8'), changed)
  })

  it('believes old and new service-account keys, and shows both', async () => {
    const {server} = await resolveAccess(await loadKubeconfig(own('super-admin.conf')))
    const tokenOf = () => requestToken(client)
    const isStillBelieved = (token: string) => isBelieved({server, ca: old}, token)
    const keyIds = async () =>
      (JSON.parse(await client.raw('/openid/v1/jwks')) as {keys: {kid: string}[]}).keys.length
    await eventually(() => client.serviceAccounts.find('default/default'))
    const early = await tokenOf()
    const {publicKey, privateKey} = rsaKeys()
    const believed = await readFile(pki('sa.pub'), 'utf8')
    await writeFile(pki('sa.pub'), publicKeyPem(publicKey) + believed)
    await writeFile(pki('sa.key'), privateKeyPem(privateKey))
    await embedded.reload()
    const late = await tokenOf()
    assert.deepEqual(
      [await isStillBelieved(early), await isStillBelieved(late), await keyIds()],
      [true, true, 2],
    )
    await writeFile(pki('sa.pub'), publicKeyPem(publicKey))
    await embedded.reload()
    assert.deepEqual(
      [await isStillBelieved(early), await isStillBelieved(late), await keyIds()],
      [false, true, 1],
    )
  })

  it('changes nothing if one of the files cannot be used, and says why', async () => {
    const key = await readFile(pki('sa.key'))
    await writeFile(pki('ca.crt'), old + next)
    await writeFile(pki('sa.key'), 'nonsense')
    await assert.rejects(embedded.reload(), {code: 'KEY_INVALID'})
    const data = await dataOf('kube-system/extension-apiserver-authentication')
    assert.equal(data['client-ca-file'], old)
    assert.equal((await dataOf('default/kube-root-ca.crt'))['ca.crt'], old)

    await writeFile(pki('sa.key'), key)
    await embedded.reload()
    const told = await dataOf('kube-system/extension-apiserver-authentication')
    assert.equal(told['client-ca-file'], old + next)
  })
})
