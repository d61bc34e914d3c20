import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {UserInfo} from '../../../src/api/meta.ts'
import {bootstrapTokenAuthenticator} from '../../../src/server/authn/bootstrap-tokens.ts'
import {foobarSecret, type SecretChanges} from '../../bootstrap/support.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {get1} from '../http/support.ts'
import {Api} from '../support.ts'
import {HOUR, TestClock, objectReader} from './support.ts'

const SECRETS = '/api/v1/namespaces/kube-system/secrets'
const FOOBAR = `${SECRETS}/bootstrap-token-foobar`
const BEARER = 'foobar.circumnavigation'
const USAGE = 'usage-bootstrap-authentication'

const BASE: UserInfo = {
  username: 'system:bootstrap:foobar',
  groups: ['system:bootstrappers', 'system:authenticated'],
}

describe('bootstrap tokens', () => {
  let folder: string
  let auditFile: string
  let server: TestServer
  let admin: Api
  let now: number

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-'))
    auditFile = join(folder, 'audit.log')
  })
  after(() => rm(folder, {recursive: true}))

  beforeEach(async () => {
    // Of today, for certificates that are checked by others too.
    now = Date.now()
    const clock = {now: () => new Date(now)}
    server = await startTestServer({controllers: false, clock, audit: {path: auditFile}})
    admin = new Api(server.handler)
  })
  afterEach(() => server.stop())

  const keep = async (changes?: SecretChanges) => {
    const secret = foobarSecret(changes)
    const {status} = await admin.post(SECRETS, secret)
    assert.equal(status, 201)
  }
  /** Who the server takes the bearer for, asked without a socket. */
  const userOf = async (bearer = BEARER): Promise<UserInfo | 401> => {
    const {status, body} = await admin
      .anonymous()
      .post(
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        {},
        {headers: {authorization: `Bearer ${bearer}`}},
      )
    if (status === 401) return 401
    assert.equal(status, 201)
    return (body.status as {userInfo: UserInfo}).userInfo
  }

  it('make a user of their id, in the group of all tokens', async () => {
    await keep()
    assert.deepEqual(await userOf(), BASE)
  })

  it('bring the groups that their Secret names, sorted and each once', async () => {
    const groups = ['foo', 'bar', 'foo'].map((name) => `system:bootstrappers:${name}`)
    await keep({data: {'auth-extra-groups': groups.join()}})
    assert.deepEqual(await userOf(), {
      ...BASE,
      groups: [
        'system:bootstrappers',
        'system:bootstrappers:bar',
        'system:bootstrappers:foo',
        'system:authenticated',
      ],
    })
  })

  it('are good before they expire', async () => {
    await keep({data: {expiration: '2109-11-10T23:00:00Z'}})
    assert.deepEqual(await userOf(), BASE)
  })

  const refusals: {name: string; changes?: SecretChanges; bearer?: string}[] = [
    {name: 'a group that is no bootstrap group', changes: {data: {'auth-extra-groups': 'foo'}}},
    {
      name: 'a group of administrators',
      changes: {data: {'auth-extra-groups': 'system:bootstrappers:foo,system:masters'}},
    },
    {name: 'a Secret of another name', changes: {name: 'bad-name'}},
    {name: 'a Secret without the usage', changes: {data: {[USAGE]: undefined}}},
    {name: 'a usage that is not exactly "true"', changes: {data: {[USAGE]: 'True'}}},
    {name: 'an id that no Secret has', bearer: 'barfoo.circumnavigation'},
    {name: 'another secret', bearer: 'foobar.circumnavigatiom'},
    {name: 'a secret that is cut short', bearer: 'foobar.circumnavigatio'},
    {name: 'a secret that goes on', bearer: 'foobar.circumnavigationn'},
    {name: 'a token in capitals', bearer: 'FOOBAR.CIRCUMNAVIGATION'},
    {name: 'an id alone', bearer: 'foobar.'},
    {name: 'an expiration that has passed', changes: {data: {expiration: '2009-11-10T23:00:00Z'}}},
    {name: 'an expiration that nobody can read', changes: {data: {expiration: 'soon'}}},
    {
      name: 'an id of three characters',
      changes: {name: 'bootstrap-token-foo', data: {'token-id': 'foo'}},
      bearer: 'foo.circumnavigation',
    },
    {name: 'a Secret of another type', changes: {type: 'Opaque'}},
    {name: 'a token-id that is not in the name', changes: {data: {'token-id': 'barfoo'}}},
  ]
  for (const {name, changes, bearer} of refusals) {
    it(`are refused for ${name}`, async () => {
      await keep(changes)
      assert.equal(await userOf(bearer), 401)
    })
  }

  it('are refused for a Secret without data', async () => {
    const {data: _data, ...empty} = foobarSecret()
    await admin.post(SECRETS, empty)
    assert.equal(await userOf(), 401)
  })

  it('are refused for a Secret in another namespace', async () => {
    await admin.post('/api/v1/namespaces/default/secrets', foobarSecret({namespace: 'default'}))
    assert.equal(await userOf(), 401)
  })

  it('are refused while their Secret is being deleted', async () => {
    await keep()
    await admin.patch(FOOBAR, {metadata: {finalizers: ['example.com/held']}})
    assert.deepEqual(await userOf(), BASE)
    await admin.delete(FOOBAR)
    assert.equal((await admin.get(FOOBAR)).status, 200)
    assert.equal(await userOf(), 401)
  })

  it('end with the request after their deletion, and come back with their Secret', async () => {
    for (let round = 0; round < 5; round++) {
      await keep()
      assert.deepEqual(await userOf(), BASE)
      await admin.delete(FOOBAR)
      assert.equal(await userOf(), 401)
    }
  })

  it('end at the very moment they expire', async () => {
    await keep({data: {expiration: new Date(now + HOUR).toISOString()}})
    now += HOUR - 1
    assert.deepEqual(await userOf(), BASE)
    now += 1
    assert.equal(await userOf(), 401)
  })

  it('end with a change of their secret, usage or groups', async () => {
    await keep()
    const encode = (text: string) => Buffer.from(text).toString('base64')
    const changes: [string, string, string][] = [
      ['token-secret', 'circumnavigatiom', 'circumnavigation'],
      [USAGE, 'false', 'true'],
      ['auth-extra-groups', 'system:masters', ''],
    ]
    for (const [key, wrong, right] of changes) {
      await admin.patch(FOOBAR, {data: {[key]: encode(wrong)}})
      assert.equal(await userOf(), 401, key)
      await admin.patch(FOOBAR, {data: {[key]: encode(right)}})
      assert.deepEqual(await userOf(), BASE, key)
    }
  })

  it('can be reviewed for others', async () => {
    await keep()
    const review = async (token: string, audiences?: string[]) => {
      const {body} = await admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
        spec: {token, ...(audiences && {audiences})},
      })
      return body.status as unknown
    }
    const issuer = 'https://kubernetes.default.svc.cluster.local'
    const good = {authenticated: true, user: BASE, audiences: [issuer]}
    const nobody = {user: {}, error: 'invalid bearer token'}
    assert.deepEqual(await review(BEARER), good)
    assert.deepEqual(await review(BEARER, [issuer]), good)
    assert.deepEqual(await review(BEARER, ['vault']), nobody)
    assert.deepEqual(await review('foobar.circumnavigatiom'), nobody)
  })

  it('work over HTTPS, say nothing if they do not, and get no further than their rights', async () => {
    await keep()
    const ask = (authorization: string, path = '/version') =>
      get1(server, path, {headers: {authorization}})
    assert.equal((await ask(`Bearer ${BEARER}`)).status, 200)
    assert.equal((await ask(`bearer ${BEARER}`)).status, 200)

    const refused = await ask('Bearer foobar.circumnavigatiom', '/healthz')
    assert.equal(refused.status, 401)
    assert.deepEqual(JSON.parse(refused.text), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })

    const forbidden = await ask(`Bearer ${BEARER}`, SECRETS)
    assert.equal(forbidden.status, 403)
    assert.match(forbidden.text, /User \\"system:bootstrap:foobar\\" cannot list/)

    await admin.delete(FOOBAR)
    assert.equal((await ask(`Bearer ${BEARER}`)).status, 401)
  })

  it('that are wrong do not stand in the way of a certificate that is right', async () => {
    const credentials = await server.credentialsFor('ann', ['system:masters'])
    const headers = {authorization: `Bearer ${BEARER}`}
    assert.equal((await get1(server, SECRETS, {headers, credentials})).status, 200)
  })

  it('leave no byte of a secret in the audit log, good or wrong', async () => {
    await keep()
    for (const bearer of [BEARER, 'foobar.wrongwrongwrong00', 'nobody.wrongwrongwrong00'])
      await get1(server, '/version', {headers: {authorization: `Bearer ${bearer}`}})
    await server.close(0)
    const beside = (name: string) => auditFile.replace(/\.log$/, `-${name}.log`)
    const [tokens, nobody] = [beside('tokens'), beside('anonymous')]
    const log = (await readFile(tokens, 'utf8')) + (await readFile(nobody, 'utf8'))
    assert.match(log, /"username":"system:bootstrap:foobar"/)
    assert.match(log, /"trustadm.io\/refused":"the bootstrap token is not valid"/)
    assert.doesNotMatch(log, /circumnav|wrongwrong/)
    assert.deepEqual(server.errors, [])
  })
})

describe('the authenticator of bootstrap tokens', () => {
  const NOT_VALID = {message: 'the bootstrap token is not valid'}
  const objects = new Map<string, ReturnType<typeof foobarSecret>>()
  const key = 'secrets/kube-system/bootstrap-token-foobar'
  const clock = new TestClock()
  const reader = objectReader(objects)
  const tokens = bootstrapTokenAuthenticator({
    objects: {shared: (...place) => reader.get(...place)},
    clock,
  })
  beforeEach(() => {
    objects.set(key, foobarSecret())
  })

  it('has no opinion on what is no bootstrap token', () => {
    for (const text of ['', 'a.b.c', 'foobar', ` ${BEARER}`, `${BEARER}\n`, BEARER.toUpperCase()])
      assert.equal(tokens.authenticate(text, []), undefined, JSON.stringify(text))
  })

  it('gives the same refusal for an unknown id as for a wrong secret, without a part of it', () => {
    for (const text of ['foobar.circumnavigatiom', 'barfoo.circumnavigation'])
      assert.throws(() => tokens.authenticate(text, []), NOT_VALID)
  })

  it('refuses a wrong secret also after the right one was accepted', () => {
    assert.ok(tokens.authenticate(BEARER, []))
    assert.throws(() => tokens.authenticate('foobar.circumnavigatiom', []), NOT_VALID)
    assert.ok(tokens.authenticate(BEARER, []))
  })

  it('refuses at once what it had accepted when its Secret changes or goes', () => {
    assert.ok(tokens.authenticate(BEARER, []))
    const {data, ...rest} = foobarSecret()
    objects.set(key, {...rest, data: {...data, 'token-secret': 'b3RoZXIxMjM0NTY3ODkwMQ=='}})
    assert.throws(() => tokens.authenticate(BEARER, []), NOT_VALID)
    objects.set(key, foobarSecret())
    assert.ok(tokens.authenticate(BEARER, []))
    objects.delete(key)
    assert.throws(() => tokens.authenticate(BEARER, []), NOT_VALID)
  })

  it('refuses at once what it had accepted when it expires', () => {
    const end = new Date(clock.now().getTime() + 1000)
    const {data, ...rest} = foobarSecret()
    const expiration = Buffer.from(end.toISOString()).toString('base64')
    objects.set(key, {...rest, data: {...data, expiration}})
    assert.ok(tokens.authenticate(BEARER, []))
    clock.advance(1001)
    assert.throws(() => tokens.authenticate(BEARER, []), NOT_VALID)
  })
})
