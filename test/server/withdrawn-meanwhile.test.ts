import assert from 'node:assert/strict'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../src/bootstrap/token.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {keyRevocation} from '../../src/trust/revocations.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {peerOf} from './authn/support.ts'
import {Api, type Answer, type CallOptions} from './support.ts'

const DEFAULT = '/api/v1/namespaces/default'
const SYSTEM = '/api/v1/namespaces/kube-system'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
const TOKEN = 'abcdef.0123456789abcdef'
const HOUR = 3_600_000
const DAY = 24 * HOUR
const apiGroup = 'rbac.authorization.k8s.io'

const binding = (name: string, subject: object) => ({
  metadata: {name},
  roleRef: {apiGroup, kind: 'ClusterRole', name: 'cluster-admin'},
  subjects: [{apiGroup, ...subject}],
})
const applied = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'new'}, data: {k: 'v'}}

/** Each would succeed if the caller could still do it. */
const REQUESTS: Record<string, [method: string, path: string, body: object, type?: string]> = {
  create: ['POST', BINDINGS, binding('mine', {kind: 'User', name: 'mallory'})],
  'create with a dry run': ['POST', `${DEFAULT}/configmaps?dryRun=All`, {metadata: {name: 'new'}}],
  update: ['PUT', `${DEFAULT}/configmaps/there`, {metadata: {name: 'there'}, data: {k: 'v'}}],
  patch: ['PATCH', `${DEFAULT}/configmaps/there`, {data: {k: 'v'}}, 'merge-patch+json'],
  apply: ['PATCH', `${DEFAULT}/configmaps/new?fieldManager=m`, applied, 'apply-patch+yaml'],
  delete: ['DELETE', `${DEFAULT}/configmaps/there`, {}],
  deletecollection: ['DELETE', `${DEFAULT}/configmaps`, {}],
  'a token': ['POST', `${DEFAULT}/serviceaccounts/default/token`, {spec: {}}],
  'a review': ['POST', REVIEWS, {spec: {user: 'root', nonResourceAttributes: {path: '/'}}}],
}

/** A body that the server waits for. */
function slowBody(body: object) {
  let ask: () => void = () => undefined
  let arrive: () => void = () => undefined
  const asked = new Promise<void>((resolve) => (ask = resolve))
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const read = async () => {
    ask()
    await arrived
    return Buffer.from(JSON.stringify(body))
  }
  return {asked, arrive: () => arrive(), read}
}

describe('a caller whose body arrives after the caller has lost', () => {
  let later: number
  let server: TestServer
  let admin: Api
  const storage = openMemoryStorage()

  before(async () => {
    later = 0
    server = await startTestServer({
      storage,
      controllers: false,
      clock: {now: () => new Date(Date.now() + later)},
    })
    admin = new Api(server.handler)
    await done(admin.post(`${DEFAULT}/configmaps`, {metadata: {name: 'there'}}))
    await done(admin.post(`${DEFAULT}/serviceaccounts`, {metadata: {name: 'default'}}))
  })
  after(() => server.stop())
  beforeEach(() => (later = 0))

  async function done(call: Promise<Answer>): Promise<Answer> {
    const answer = await call
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  const bind = (name: string, subject: object) => done(admin.post(BINDINGS, binding(name, subject)))
  const content = async () =>
    (await storage.list('/registry/')).entries.map(({key, revision}) => `${key} ${revision}`)

  /** Somebody who may do everything, until `withdraw`. */
  interface Caller {
    api: Api
    options: CallOptions
    withdraw: () => unknown
    status: number
  }

  async function bearer(): Promise<Caller> {
    const usages = {signing: false, authentication: true}
    const expires = new Date(Date.now() + HOUR)
    const token = parseToken(TOKEN)
    await bind('tokens', {kind: 'Group', name: 'system:bootstrappers'})
    const secret = toSecret({token, description: '', expires, usages, groups: []})
    await done(admin.post(`${SYSTEM}/secrets`, secret))
    return {
      api: admin.anonymous(),
      options: {headers: {authorization: `Bearer ${TOKEN}`}},
      withdraw: () => admin.delete(`${SYSTEM}/secrets/bootstrap-token-abcdef`),
      status: 401,
    }
  }

  async function certified(): Promise<Caller> {
    const {certificate} = await server.credentialsFor('root', ['system:masters'])
    const parsed = parseCertificate(certificate)
    const peer = peerOf(parsed.der)
    return {
      api: new Api(({caller: _caller, ...request}) => server.handler({...request, peer})),
      options: {},
      withdraw: () =>
        admin.patch(`${SYSTEM}/configmaps/trustadm-revoked-certificates`, {
          data: {[keyRevocation(pinOf(parsed))]: '{}'},
        }),
      status: 401,
    }
  }

  async function account(): Promise<Caller> {
    await bind('accounts', {kind: 'Group', name: 'system:serviceaccounts'})
    await done(admin.post(`${DEFAULT}/serviceaccounts`, {metadata: {name: 'robot'}}))
    const {body} = await done(admin.post(`${DEFAULT}/serviceaccounts/robot/token`, {spec: {}}))
    return {
      api: admin.anonymous(),
      options: {headers: {authorization: `Bearer ${String(body.status.token)}`}},
      withdraw: () => admin.delete(`${DEFAULT}/serviceaccounts/robot`),
      status: 401,
    }
  }

  async function bound(): Promise<Caller> {
    await bind('jane', {kind: 'User', name: 'jane'})
    return {
      api: admin.as('jane'),
      options: {},
      withdraw: () => admin.delete(`${BINDINGS}/jane`),
      status: 403,
    }
  }

  const expired = (caller: () => Promise<Caller>) => async () => ({
    ...(await caller()),
    withdraw: () => void (later = 2 * DAY),
  })

  const callers: Record<string, () => Promise<Caller>> = {
    'the bootstrap token, which was deleted': bearer,
    'the bootstrap token, which has expired': expired(bearer),
    'the certificate, which was revoked': certified,
    'the certificate, which has expired': expired(certified),
    'the service account, which was deleted': account,
    'the token of the service account, which has expired': expired(account),
    'the right': bound,
  }
  for (const [what, make] of Object.entries(callers)) {
    describe(what, () => {
      let caller: Caller
      beforeEach(async () => {
        caller = await make()
      })
      afterEach(async () => {
        later = 0
        for (const path of [
          `${SYSTEM}/secrets/bootstrap-token-abcdef`,
          `${DEFAULT}/serviceaccounts/robot`,
          ...['tokens', 'accounts', 'jane', 'mine'].map((name) => `${BINDINGS}/${name}`),
        ])
          await admin.delete(path)
      })

      for (const [verb, [method, path, body, type = 'json']] of Object.entries(REQUESTS)) {
        it(`gets nothing done by ${verb}`, async () => {
          const {api, options, withdraw, status} = caller
          const slow = slowBody(body)
          const call = {...options, type: `application/${type}`, body: slow.read}
          const answer = api.call(method, path, call)
          await slow.asked
          await withdraw()
          const before = await content()
          slow.arrive()
          assert.equal((await answer).status, status)
          assert.deepEqual(await content(), before)
        })
      }
    })
  }

  it('gets nothing done if that was while others wrote before it', async () => {
    const SERVICES = `${DEFAULT}/services`
    const {api} = await bound()
    const {create} = storage
    const first = slowBody({})
    storage.create = async (key, value) => {
      if (key.endsWith('/services/default/first')) await first.read()
      return create.call(storage, key, value)
    }
    try {
      const service = (name: string) => ({metadata: {name}, spec: {ports: [{port: 80}]}})
      const before = admin.post(SERVICES, service('first'))
      await first.asked
      // It waits for its turn to choose an address.
      const second = api.post(SERVICES, service('second'))
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      await done(admin.delete(`${BINDINGS}/jane`))
      first.arrive()
      assert.equal((await before).status, 201)
      assert.equal((await second).status, 403)
      assert.equal((await admin.get(`${SERVICES}/second`)).status, 404)
    } finally {
      storage.create = create
    }
  })
})
