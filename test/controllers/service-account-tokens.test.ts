import assert from 'node:assert/strict'
import type {Secret} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {PORTABLE_CONTROLLERS} from '../../src/controllers/catalog.ts'
import {controllersOf, startAll} from '../../src/controllers/index.ts'
import {SecretsOfAccounts} from '../../src/controllers/service-account-tokens.ts'
import {ACCOUNT_NAME} from '../../src/csr/bootstrapper.ts'
import {systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {get1, servingMaterial} from '../server/http/support.ts'
import {eventually} from './signing/support.ts'

describe('the Secrets of accounts', () => {
  const secretOf = (account: string) => ({
    metadata: {namespace: 'default', name: 'one', annotations: {[ACCOUNT_NAME]: account}},
  })
  const KEY = 'default/one'

  it('are found by the account, until they are forgotten', () => {
    const secrets = new SecretsOfAccounts()
    assert.deepEqual(secrets.see(secretOf('robot'), KEY), [KEY])
    assert.deepEqual([...secrets.of('default/robot')], [KEY])
    assert.deepEqual(secrets.all(), [KEY])
    secrets.forget(KEY)
    secrets.forget(KEY)
    assert.deepEqual([[...secrets.of('default/robot')], secrets.all()], [[], []])
  })

  it('are found by the new account alone once the annotation has changed', () => {
    const secrets = new SecretsOfAccounts()
    secrets.see(secretOf('robot'), KEY)
    secrets.see(secretOf('other'), KEY)
    assert.deepEqual(
      [[...secrets.of('default/robot')], [...secrets.of('default/other')]],
      [[], [KEY]],
    )
    assert.deepEqual(secrets.all(), [KEY])
  })
})

const NAME = 'kubernetes.io/service-account.name'
const UID = 'kubernetes.io/service-account.uid'
const KEEPS = 'trustadm.io/bootstrap-token-secret'

const text = ({data = {}}: Secret, key: string) => Buffer.from(data[key] ?? '', 'base64').toString()

describe('the controller of service-account token Secrets', () => {
  let server: TestServer
  let client: ApiClient
  beforeEach(async () => {
    server = await startTestServer()
    client = server.clientAs(ADMIN)
  })
  afterEach(async () => {
    assert.deepEqual(server.errors, [])
    await server.stop()
  })

  const account = (name = 'robot', namespace = 'default', annotations = {}) =>
    client.serviceAccounts.create({metadata: {name, namespace, annotations}})
  const secretFor = (owner: string, name = 'robot-token', namespace = 'default') =>
    client.secrets.create({
      metadata: {name, namespace, annotations: {[NAME]: owner}},
      type: 'kubernetes.io/service-account-token',
    })
  const filled = (key = 'default/robot-token') =>
    eventually(async () => {
      const secret = await client.secrets.find(key)
      return secret?.data?.token === undefined ? undefined : secret
    })
  const gone = (key: string) =>
    eventually(async () => (await client.secrets.find(key)) === undefined)
  const statusOf = async (token: string) =>
    (await get1(server, '/version', {headers: {authorization: `Bearer ${token}`}})).status

  it('fills a Secret with a token of the account, the CA, the namespace and the uid', async () => {
    const {metadata} = await account()
    await secretFor('robot')
    const secret = await filled()
    assert.equal(text(secret, 'ca.crt'), server.ca)
    assert.equal(text(secret, 'namespace'), 'default')
    assert.equal(secret.metadata.annotations?.[UID], metadata.uid)
    const review = await client.tokenReviews.create({
      metadata: {},
      spec: {token: text(secret, 'token')},
    })
    assert.equal(review.status?.user?.username, 'system:serviceaccount:default:robot')
  })

  it('makes a token that outlives every certificate and ends with its Secret', async () => {
    await account()
    await secretFor('robot')
    const token = text(await filled(), 'token')
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number
    }
    assert.ok(claims.exp * 1000 > Date.now() + 100 * 365 * 86_400_000)
    assert.equal(await statusOf(token), 200)
    await client.secrets.delete('default/robot-token')
    assert.equal(await statusOf(token), 401)
  })

  it('fills a Secret that is created again with another token', async () => {
    await account()
    await secretFor('robot')
    const first = text(await filled(), 'token')
    await client.secrets.delete('default/robot-token')
    await secretFor('robot')
    const second = text(await filled(), 'token')
    assert.notEqual(first, second)
    assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200])
  })

  it('deletes a Secret whose account does not exist', async () => {
    await secretFor('nobody', 'orphan')
    await gone('default/orphan')
  })

  it('deletes the Secrets of an account that is deleted, and not those of another', async () => {
    await account()
    await account('other')
    await secretFor('robot')
    await secretFor('other', 'other-token')
    await filled()
    await filled('default/other-token')
    await client.serviceAccounts.delete('default/robot')
    await gone('default/robot-token')
    assert.ok(await client.secrets.find('default/other-token'))
  })

  it('deletes a Secret that names another account of the same name', async () => {
    await account()
    await client.secrets.create({
      metadata: {
        name: 'old',
        namespace: 'default',
        annotations: {[NAME]: 'robot', [UID]: 'another'},
      },
      type: 'kubernetes.io/service-account-token',
    })
    await gone('default/old')
  })

  it('keeps the token when it replaces the CA after a change of the trust', async () => {
    await account()
    await secretFor('robot')
    const before = await filled()
    const {clientAuthorities: another} = await servingMaterial()
    await server.setTrust({bundles: {'api-server': bundleOf(server.ca + another)}})
    const after = await eventually(async () => {
      const secret = await client.secrets.get('default/robot-token')
      return text(secret, 'ca.crt') === text(before, 'ca.crt') ? undefined : secret
    })
    assert.equal(text(after, 'ca.crt'), bundleOf(server.ca + another).pem)
    assert.equal(text(after, 'token'), text(before, 'token'))
  })

  it('restores what somebody removed from a Secret', async () => {
    await account()
    await secretFor('robot')
    const {data: _data, ...emptied} = await filled()
    await client.secrets.update(emptied)
    assert.equal(text(await filled(), 'namespace'), 'default')
  })

  it('leaves Secrets of other types alone', async () => {
    const metadata = {name: 'plain', namespace: 'default', annotations: {[NAME]: 'nobody'}}
    await client.secrets.create({metadata, type: 'Opaque'})
    await secretFor('nobody', 'orphan')
    await gone('default/orphan')
    assert.equal((await client.secrets.get('default/plain')).data, undefined)
  })

  describe('for the node bootstrapper', () => {
    const KEY = 'kube-system/node-bootstrapper-token'
    const kept = {[KEEPS]: 'node-bootstrapper-token'}

    it('creates the Secret again that somebody deletes, and reports it', async () => {
      await account('node-bootstrapper', 'kube-system', kept)
      const first = await filled(KEY)
      await client.secrets.delete(KEY)
      const second = await filled(KEY)
      assert.notEqual(first.metadata.uid, second.metadata.uid)
      assert.equal(await statusOf(text(first, 'token')), 401)
      assert.equal(await statusOf(text(second, 'token')), 200)
      const event = await eventually(async () => {
        const {items} = await client.events.list({namespace: 'kube-system'})
        return items.find(({message = ''}) => message.includes(second.metadata.uid ?? '-'))
      })
      assert.deepEqual(
        [event.type, event.reason, event.involvedObject.name],
        ['Warning', 'BootstrapTokenReplaced', 'node-bootstrapper'],
      )
    })

    it('does not create it again once its account no longer asks for it', async () => {
      const {metadata} = await account('node-bootstrapper', 'kube-system', kept)
      await filled(KEY)
      const ref = {name: 'node-bootstrapper', namespace: 'kube-system'}
      const found = await client.serviceAccounts.get(ref)
      await client.serviceAccounts.update({...found, metadata: {...ref, uid: metadata.uid ?? ''}})
      await client.secrets.delete(KEY)
      // What comes after it in the queue is done.
      await account('marker', 'kube-system')
      await secretFor('marker', 'marker-token', 'kube-system')
      await filled('kube-system/marker-token')
      assert.equal(await client.secrets.find(KEY), undefined)
    })

    it('does so in no namespace but its own', async () => {
      await account('node-bootstrapper', 'default', kept)
      await account('marker')
      await secretFor('marker', 'marker-token')
      await filled('default/marker-token')
      assert.equal(await client.secrets.find('default/node-bootstrapper-token'), undefined)
    })
  })
})

describe('bootstrap-token-keeper', () => {
  const KEY = 'kube-system/node-bootstrapper-token'
  const metadata = {namespace: 'kube-system', name: 'node-bootstrapper'}
  let server: TestServer
  let client: ApiClient
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  /** As "trustadm controllers" runs it, with what it knows of the server. */
  const start = (keepsTokens: true | undefined) =>
    controllersOf(
      PORTABLE_CONTROLLERS,
      {reader: client, writer: () => client, clock: systemClock, keepsTokens},
      ['bootstrap-token-keeper'],
    )

  it("creates the Secret again that somebody deletes, and reports it, on another program's server", async () => {
    const running = startAll(start(true), (...failure) => assert.fail(failure.join(' ')))
    try {
      await client.serviceAccounts.create({
        metadata: {...metadata, annotations: {[KEEPS]: 'node-bootstrapper-token'}},
      })
      const first = await eventually(() => client.secrets.find(KEY))
      // kube-controller-manager fills it.
      assert.deepEqual([first.type, first.data], ['kubernetes.io/service-account-token', undefined])
      await client.secrets.delete(KEY)
      const second = await eventually(() => client.secrets.find(KEY))
      assert.notEqual(first.metadata.uid, second.metadata.uid)
      const event = await eventually(async () => {
        const {items} = await client.events.list({namespace: 'kube-system'})
        return items.find(({message = ''}) => message.includes(second.metadata.uid ?? '-'))
      })
      assert.equal(event.reason, 'BootstrapTokenReplaced')
    } finally {
      await running.close()
    }
  })

  it("leaves that to service-account-token-controller on trustadm's own server", () => {
    assert.deepEqual(start(undefined), [])
  })
})
