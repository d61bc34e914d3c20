import assert from 'node:assert/strict'
import type {ConfigMap} from '../../src/api/core.ts'
import {generateToken} from '../../src/bootstrap/generate-token.ts'
import {signDetached} from '../../src/bootstrap/jws.ts'
import {describeToken, type NewTokenOptions} from '../../src/bootstrap/token-info.ts'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import type {BootstrapToken} from '../../src/bootstrap/token.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {bootstrapSignerController} from '../../src/controllers/bootstrap-signer.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {systemClock} from '../../src/runtime.ts'
import {independentJws} from '../helpers/jws.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {testAuthority} from '../pki/support.ts'
import {get1} from '../server/http/support.ts'
import {until} from '../server/support.ts'

const CLUSTER_INFO = {namespace: 'kube-public', name: 'cluster-info'}
const HOUR = 3_600_000
const KUBECONFIG = 'apiVersion: v1\nkind: Config\n'

/** What the controllers do on a whole server, with only the rights that they have. */
describe('tokens and cluster-info', () => {
  let server: TestServer
  let admin: ApiClient
  let extraController: RunningController | undefined
  let ahead: number
  const clock = {now: () => new Date(Date.now() + ahead)}

  const start = async (options: Parameters<typeof startTestServer>[0] = {}) => {
    ahead = 0
    server = await startTestServer({clock, ...options})
    admin = server.clientAs(ADMIN)
    await admin.configMaps.create({metadata: CLUSTER_INFO, data: {kubeconfig: KUBECONFIG}})
  }
  afterEach(async () => {
    await extraController?.close()
    extraController = undefined
    await server.stop()
    assert.deepEqual(server.errors, [])
  })

  const create = async (options: NewTokenOptions = {}): Promise<BootstrapToken> => {
    const token = generateToken()
    await admin.secrets.create(toSecret(describeToken(token, options, new Date())))
    return token
  }
  const secretOf = ({id}: BootstrapToken) => `kube-system/bootstrap-token-${id}`
  const read = (): Promise<ConfigMap> => admin.configMaps.get(CLUSTER_INFO)
  const signatureOf = async ({id}: BootstrapToken) => (await read()).data?.[`jws-kubeconfig-${id}`]
  const signedIds = async () =>
    Object.keys((await read()).data ?? {})
      .filter((key) => key.startsWith('jws-'))
      .map((key) => key.slice('jws-kubeconfig-'.length))
      .sort()
  const isSigned = async (token: BootstrapToken, content = KUBECONFIG) =>
    (await signatureOf(token)) === independentJws(content, token)

  it('a new token signs, and its signature goes with it', async () => {
    await start()
    const token = await create()
    await until(() => isSigned(token))
    await admin.secrets.delete(secretOf(token))
    await until(async () => (await signedIds()).length === 0)
    assert.deepEqual((await read()).data, {kubeconfig: KUBECONFIG})
  })

  it('all tokens sign again where the kubeconfig changes', async () => {
    await start()
    const tokens = [await create(), await create(), await create()]
    const allSigned = (content: string) =>
      until(async () =>
        (await Promise.all(tokens.map((one) => isSigned(one, content)))).every(Boolean),
      )
    await allSigned(KUBECONFIG)
    await admin.configMaps.patch(CLUSTER_INFO, {data: {kubeconfig: 'other'}}, {type: 'merge'})
    await allSigned('other')
  })

  it('name the new CAs in the write that signs them, and keep the rest', async () => {
    await start()
    const token = await create()
    const info = {server: 'https://lb.example.com:6443', tlsServerName: 'lb'}
    const kubeconfig = formatClusterInfo({...info, ca: server.ca})
    await admin.configMaps.patch(CLUSTER_INFO, {data: {kubeconfig}}, {type: 'merge'})
    await until(() => isSigned(token, kubeconfig))
    const {resourceVersion = ''} = (await read()).metadata

    const bundle = server.ca + (await testAuthority({commonName: 'next'})).pem
    await server.setTrust({bundles: {'api-server': bundleOf(bundle)}})
    const renewed = formatClusterInfo({...info, ca: bundle})
    await until(async () => (await read()).data?.kubeconfig === renewed)
    assert.ok(await isSigned(token, renewed))
    assert.equal(await countWrites(resourceVersion), 1)
  })

  it('signatures that somebody changes, adds or removes are put right', async () => {
    await start()
    const token = await create()
    await until(() => isSigned(token))
    const key = `jws-kubeconfig-${token.id}`
    for (const data of [{[key]: 'tampered'}, {[key]: null}, {'jws-kubeconfig-nobody': 'x'}]) {
      await admin.configMaps.patch(CLUSTER_INFO, {data}, {type: 'merge'})
      await until(async () => (await isSigned(token)) && (await signedIds()).length === 1)
    }
  })

  it('a ConfigMap that is deleted and made again is signed again', async () => {
    await start()
    const token = await create()
    await until(() => isSigned(token))
    await admin.configMaps.delete(CLUSTER_INFO)
    await admin.configMaps.create({metadata: CLUSTER_INFO, data: {kubeconfig: 'new'}})
    await until(() => isSigned(token, 'new'))
  })

  it('a token that loses the usage loses its signature', async () => {
    await start()
    const token = await create()
    await until(() => isSigned(token))
    const data = {'usage-bootstrap-signing': null}
    await admin.secrets.patch(secretOf(token), {data}, {type: 'merge'})
    await until(async () => (await signedIds()).length === 0)
  })

  it('a Secret as kubectl makes it, of plain text, counts as well', async () => {
    await start()
    await admin.secrets.create({
      metadata: {namespace: 'kube-system', name: 'bootstrap-token-byhand'},
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'byhand',
        'token-secret': 'k3xq0zv7m2p9w4ta',
        'usage-bootstrap-signing': 'true',
      },
    })
    await until(() => isSigned({id: 'byhand', secret: 'k3xq0zv7m2p9w4ta'}))
  })

  it('an expired token is deleted and its signature with it, others stay', async () => {
    await start()
    const gone = await create({expires: new Date(Date.now() - HOUR)})
    const soon = await create({expires: new Date(Date.now() + HOUR)})
    const later = await create()
    const forever = await create({ttl: 0})
    await until(async () => (await admin.secrets.find(secretOf(gone))) === undefined)
    await until(async () => (await isSigned(later)) && (await isSigned(forever)))
    assert.ok(await admin.secrets.find(secretOf(soon)))
    ahead = 2 * HOUR
    await admin.secrets.patch(secretOf(soon), {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    await until(async () => (await admin.secrets.find(secretOf(soon))) === undefined)
    const left = [later.id, forever.id].sort()
    await until(async () => JSON.stringify(await signedIds()) === JSON.stringify(left))
    assert.ok(await admin.secrets.find(secretOf(later)))
    assert.ok(await admin.secrets.find(secretOf(forever)))
  })

  it('a token of the same name that is made anew is not deleted for the old one', async () => {
    await start()
    const token = generateToken()
    const expires = new Date(Date.now() + 1000)
    await admin.secrets.create(toSecret(describeToken(token, {expires}, new Date())))
    await admin.secrets.delete(secretOf(token))
    await admin.secrets.create(toSecret(describeToken(token, {}, new Date())))
    const marker = await create({expires: new Date(Date.now() + 2000)})
    await until(async () => (await admin.secrets.find(secretOf(marker))) === undefined)
    assert.ok(await isSigned(token))
  })

  it('other Secrets are not touched, whatever they say of their expiry', async () => {
    await start()
    const expired = toSecret(
      describeToken(generateToken(), {expires: new Date(Date.now() - 1000)}, new Date()),
    )
    const elsewhere = {...expired, metadata: {...expired.metadata, namespace: 'default'}}
    const opaque = {...expired, type: 'Opaque'}
    await admin.secrets.create(elsewhere)
    await admin.secrets.create(opaque)
    const marker = await create({expires: new Date(Date.now() - 1000)})
    await until(async () => (await admin.secrets.find(secretOf(marker))) === undefined)
    for (const {metadata} of [elsewhere, opaque])
      assert.ok(await admin.secrets.find(`${metadata.namespace}/${metadata.name}`))
  })

  it('what is right is not written again', async () => {
    await start()
    const token = await create()
    await until(() => isSigned(token))
    const {metadata} = await read()
    await admin.secrets.patch(secretOf(token), {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    const other = await create({usages: {signing: false, authentication: true}})
    await admin.secrets.delete(secretOf(other))
    const marker = await create()
    await until(() => isSigned(marker))
    const after = await read()
    assert.notEqual(after.metadata.resourceVersion, metadata.resourceVersion)
    assert.equal(await countWrites(metadata.resourceVersion ?? ''), 1)
  })

  /** How often cluster-info has been written after a version of it. */
  const countWrites = async (resourceVersion: string) => {
    const {metadata} = await read()
    let count = 0
    const select = {namespace: 'kube-public', fieldSelector: 'metadata.name=cluster-info'}
    for await (const {object} of admin.configMaps.watch({...select, resourceVersion})) {
      count++
      if (object.metadata.resourceVersion === metadata.resourceVersion) break
    }
    return count
  }

  describe('with the signer alone', () => {
    const clientsOf = () => ({
      reader: server.clientAs({
        username: 'system:kube-controller-manager',
        groups: ['system:authenticated'],
      }),
      writer: server.clientAs({
        username: 'system:serviceaccount:kube-system:bootstrap-signer',
        groups: ['system:serviceaccounts', 'system:authenticated'],
      }),
    })
    const onError = (...report: unknown[]) => void server.errors.push(report.join(' '))

    it('no signature is taken out before all tokens have been seen', async () => {
      await start()
      const token = await create()
      await until(() => isSigned(token))
      const {resourceVersion} = (await read()).metadata
      const {reader, writer} = clientsOf()
      let isAsked = false
      let listTokens: () => void = () => undefined
      const allowed = new Promise<void>((resolve) => (listTokens = resolve))
      const {secrets} = reader
      const slow = {
        ...reader,
        configMaps: reader.configMaps,
        secrets: {
          list: async (...args: Parameters<typeof secrets.list>) => {
            isAsked = true
            await allowed
            return secrets.list(...args)
          },
          watch: secrets.watch.bind(secrets),
        } as ApiClient['secrets'],
      }
      let signed = 0
      const sign = (content: string, one: BootstrapToken) => {
        signed++
        return signDetached(content, one)
      }
      const spec = bootstrapSignerController(slow, writer, systemClock, {sign})
      extraController = startController(spec, onError)
      await admin.configMaps.patch(CLUSTER_INFO, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
      await until(() => isAsked)
      assert.equal(signed, 0)
      listTokens()
      await extraController.synced
      await until(() => signed === 1)
      assert.equal(await countWrites(resourceVersion ?? ''), 1)
    })

    it('2,000 tokens are signed while the server answers, and one change signs one', async () => {
      await start({controllers: false})
      const tokens = await createMany(2000)
      const {reader, writer} = clientsOf()
      let signed = 0
      const sign = (content: string, token: BootstrapToken) => {
        signed++
        busyFor(0.25)
        return signDetached(content, token)
      }
      const spec = bootstrapSignerController(reader, writer, systemClock, {sign})
      const credentials = await server.credentialsFor('ann', [])
      extraController = startController(spec, onError)

      let answeredMeanwhile = 0
      while (signed < tokens.length) {
        assert.equal((await get1(server, '/healthz', {credentials})).status, 200)
        if (signed > 0 && signed < tokens.length) answeredMeanwhile++
      }
      assert.ok(answeredMeanwhile >= 10, `${answeredMeanwhile} answers`)
      await until(async () => (await signedIds()).length === tokens.length)
      assert.equal(signed, tokens.length)

      const [first = generateToken(), second = generateToken()] = tokens
      const extra = await create()
      await until(() => isSigned(extra))
      assert.equal(signed, tokens.length + 1)

      const changed = {...first, secret: generateToken().secret}
      await admin.secrets.update(toSecret(describeToken(changed, {}, new Date())))
      await until(() => isSigned(changed))
      assert.equal(signed, tokens.length + 2)

      await admin.secrets.delete(secretOf(second))
      await until(async () => (await signatureOf(second)) === undefined)
      assert.equal(signed, tokens.length + 2)
      assert.equal((await signedIds()).length, tokens.length)
    })
  })

  const createMany = async (count: number) => {
    const tokens: BootstrapToken[] = []
    while (tokens.length < count)
      tokens.push(...(await Promise.all(Array.from({length: 50}, () => create()))))
    return tokens
  }
})

function busyFor(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}
