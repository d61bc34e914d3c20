import assert from 'node:assert/strict'
import {createHmac, createPublicKey, generateKeyPairSync, sign, verify} from 'node:crypto'
import type {KeyObject} from 'node:crypto'
import {createLocalJWKSet, decodeProtectedHeader, jwtVerify} from 'jose'
import type {ApiObject} from '../../../src/api/meta.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {authenticateBearer, createTokenReview} from '../../../src/server/authn/bearer.ts'
import type {BearerAuthenticator} from '../../../src/server/authn/bearer.ts'
import {SeenClients} from '../../../src/server/authn/seen-clients.ts'
import {
  issueServiceAccountToken,
  serviceAccountAuthenticator,
  signJwt,
} from '../../../src/server/authn/service-account-tokens.ts'
import {jsonWebKeySet, openidConfiguration} from '../../../src/server/documents.ts'
import {createTokenKeys, pinOfKeyId} from '../../../src/trust/token-keys.ts'
import type {TokenKeys} from '../../../src/trust/token-keys.ts'
import type {TokenOrder} from '../../../src/server/kernel/services.ts'
import {HOUR, MINUTE, NOW, TestClock, objectReader} from './support.ts'
import {rsaKeys} from '../../helpers/rsa-keys.ts'

const ISSUER = 'https://kubernetes.default.svc'
const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
const thing = (uid: string, deletionTimestamp?: string): ApiObject => ({
  metadata: {uid, ...(deletionTimestamp === undefined ? {} : {deletionTimestamp})},
})
const order: TokenOrder = {
  serviceAccount: {namespace: 'a', name: 'robot', uid: 'sa-1'},
  audiences: [ISSUER],
  expirationSeconds: 3600,
}
const boundTo = (kind: 'Node' | 'Pod' | 'Secret'): TokenOrder => ({
  ...order,
  bound: {
    kind,
    name: 'thing',
    uid: 'thing-1',
    ...(kind === 'Pod' ? {node: {name: 'n1', uid: 'n1-uid'}} : {}),
  },
})

describe('service-account tokens', () => {
  let ecKey: KeyObject
  let rsaKey: KeyObject
  let otherKey: KeyObject
  let keys: TokenKeys
  let clock: TestClock
  let objects: Map<string, ApiObject>
  let tokens: BearerAuthenticator

  before(async () => {
    ecKey = (await generateKeys('ECDSA-P256')).privateKey
    rsaKey = rsaKeys().privateKey
    otherKey = (await generateKeys('ECDSA-P256')).privateKey
  })

  beforeEach(() => {
    keys = createTokenKeys(rsaKey)
    clock = new TestClock()
    objects = new Map([
      ['serviceaccounts/a/robot', thing('sa-1')],
      ['pods/a/thing', thing('thing-1')],
      ['secrets/a/thing', thing('thing-1')],
      ['nodes//thing', thing('thing-1')],
    ])
    tokens = serviceAccountAuthenticator({
      issuers: [ISSUER],
      keys: () => keys,
      objects: objectReader(objects),
      clock,
    })
  })

  const issue = async (wanted: TokenOrder = order) =>
    (await issueServiceAccountToken({issuers: [ISSUER], keys: () => keys, clock}, wanted)).token
  it('are noted with their key, one entry for each token, and one for all of a pod', async () => {
    const seen = new SeenClients()
    const noting = serviceAccountAuthenticator({
      issuers: [ISSUER],
      keys: () => keys,
      objects: objectReader(objects),
      clock,
      seen,
    })
    const call = {userAgent: 'kubectl', remoteAddress: '192.0.2.1'}
    await noting.authenticate(await issue(), [ISSUER], call)
    await noting.authenticate(await issue(), [ISSUER], call)
    // Shown to another server, which asks.
    await noting.authenticate(await issue(), [ISSUER])
    await assert.rejects(async () => noting.authenticate(await issue(), ['other'], call))
    for (let times = 0; times < 3; times++)
      await noting.authenticate(await issue(boundTo('Pod')), [ISSUER], call)
    const found = seen.list().clients
    const {user} = (await authenticate(await issue())) ?? assert.fail()
    const pin = pinOfKeyId(keys.signing.id)
    assert.match(pin, /^sha256:[0-9a-f]{64}$/)
    assert.ok(found.every((one) => one.issuerPin === pin && one.user === user.username))
    assert.deepEqual(
      found.map(({holder, address}) => [holder, address]).sort(),
      [
        [undefined, ''],
        [undefined, '192.0.2.1'],
        [undefined, '192.0.2.1'],
        ['pod a/thing (thing-1)', '192.0.2.1'],
      ].sort(),
    )
  })

  const authenticate = async (token: string, audiences: string[] = [ISSUER]) =>
    tokens.authenticate(token, audiences)
  const accepted = async (token: string) => {
    assert.ok(await authenticate(token))
  }
  const refused = async (token: string) => assert.rejects(authenticate(token))

  it('says who the account is', async () => {
    const found = await authenticate(await issue())
    assert.equal(found?.user.username, 'system:serviceaccount:a:robot')
    assert.equal(found.user.uid, 'sa-1')
    assert.deepEqual(found.user.groups, ['system:serviceaccounts', 'system:serviceaccounts:a'])
    assert.deepEqual(Object.keys(found.user.extra ?? {}), [
      'authentication.kubernetes.io/credential-id',
    ])
    assert.match(
      found.user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '',
      /^JTI=[0-9a-f-]{36}$/,
    )
    assert.deepEqual(found.audiences, [ISSUER])
  })

  it('says which pod and node a bound token is for', async () => {
    const extra = (await authenticate(await issue(boundTo('Pod'))))?.user.extra
    assert.deepEqual(
      ['node-name', 'node-uid', 'pod-name', 'pod-uid'].map(
        (key) => extra?.[`authentication.kubernetes.io/${key}`]?.[0],
      ),
      ['n1', 'n1-uid', 'thing', 'thing-1'],
    )
  })

  it('writes the claims that Kubernetes writes', async () => {
    const {token, expires} = await issueServiceAccountToken(
      {issuers: [ISSUER], keys: () => keys, clock},
      boundTo('Pod'),
    )
    assert.equal(expires.toISOString(), '2026-01-01T01:00:00.000Z')
    const {payload} = await jwtVerify(token, createLocalJWKSet(jsonWebKeySet(keys)), {
      issuer: ISSUER,
      audience: ISSUER,
      currentDate: NOW,
    })
    const {jti, ...claims} = payload
    assert.equal(typeof jti, 'string')
    assert.deepEqual(claims, {
      aud: [ISSUER],
      exp: seconds(NOW) + 3600,
      iat: seconds(NOW),
      iss: ISSUER,
      'kubernetes.io': {
        namespace: 'a',
        node: {name: 'n1', uid: 'n1-uid'},
        pod: {name: 'thing', uid: 'thing-1'},
        serviceaccount: {name: 'robot', uid: 'sa-1'},
      },
      nbf: seconds(NOW),
      sub: 'system:serviceaccount:a:robot',
    })
  })

  it('signs by the kind of its key, and names the key', async () => {
    assert.deepEqual(decodeProtectedHeader(await issue()), {alg: 'RS256', kid: keys.signing.id})
    keys = createTokenKeys(ecKey)
    const token = await issue()
    assert.deepEqual(decodeProtectedHeader(token), {alg: 'ES256', kid: keys.signing.id})
    await accepted(token)
  })

  it('makes signatures that other implementations verify', async () => {
    for (const key of [rsaKey, ecKey]) {
      keys = createTokenKeys(key)
      const [header, payload, signature = ''] = (await issue()).split('.')
      const publicKey = {key: createPublicKey(key), dsaEncoding: 'ieee-p1363'} as const
      const bytes = Buffer.from(signature, 'base64url')
      assert.ok(verify('sha256', Buffer.from(`${header}.${payload}`), publicKey, bytes))
    }
  })

  it('are not signed with an RSA key that is too short', () => {
    const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 1024})
    assert.throws(() => createTokenKeys(privateKey), {code: 'KEY_INVALID'})
  })

  it('believes old keys while they are listed, and not a request longer', async () => {
    const token = await issue()
    keys = createTokenKeys(ecKey, [createPublicKey(rsaKey)])
    await accepted(token)
    keys = createTokenKeys(ecKey)
    await refused(token)
  })

  it('allows a minute for clocks that differ', async () => {
    const token = await issue()
    clock.advance(HOUR + 59_000)
    await accepted(token)
    clock.advance(2000)
    await refused(token)
    clock.advance(-2 * HOUR)
    await refused(token)
  })

  it('is only for the audiences it was made for', async () => {
    const token = await issue({...order, audiences: ['vault', 'other']})
    await refused(token)
    assert.deepEqual((await authenticate(token, ['x', 'vault']))?.audiences, ['vault'])
  })

  for (const kind of ['Pod', 'Secret', 'Node'] as const) {
    it(`ends with the ${kind} it is bound to, also after it has been used`, async () => {
      const token = await issue(boundTo(kind))
      await accepted(token)
      const key = kind === 'Node' ? 'nodes//thing' : `${kind.toLowerCase()}s/a/thing`
      objects.set(key, thing('thing-2'))
      await refused(token)
      objects.delete(key)
      await refused(token)
    })
  }

  it('ends with its account, a minute after that is marked for deletion', async () => {
    const token = await issue()
    objects.set('serviceaccounts/a/robot', thing('sa-1', NOW.toISOString()))
    await accepted(token)
    clock.advance(MINUTE + 1000)
    await refused(token)
    objects.set('serviceaccounts/a/robot', thing('sa-2'))
    await refused(token)
    objects.delete('serviceaccounts/a/robot')
    await refused(token)
  })

  it('has no opinion on tokens of others', async () => {
    const foreign = await signJwt({iss: 'https://elsewhere'}, keys.signing)
    for (const token of ['abcdef.0123456789abcdef', 'a.b.c', '', '...', foreign]) {
      assert.equal(await authenticate(token), undefined)
    }
  })

  describe('forged', () => {
    const claims = () => ({
      aud: [ISSUER],
      exp: seconds(NOW) + 3600,
      iat: seconds(NOW),
      nbf: seconds(NOW),
      iss: ISSUER,
      sub: 'system:serviceaccount:a:robot',
      'kubernetes.io': {namespace: 'a', serviceaccount: {name: 'robot', uid: 'sa-1'}},
    })
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = (changes: object) => signJwt({...claims(), ...changes}, keys.signing)

    it('is good as far as these tests go', async () => accepted(await signed({})))

    const changes: [string, object][] = [
      ['the subject of another account', {sub: 'system:serviceaccount:a:admin'}],
      ['no expiry', {exp: undefined}],
      ['an expiry that is no number', {exp: '9999999999'}],
      ['no account', {'kubernetes.io': {namespace: 'a'}}],
      ['no claims of Kubernetes', {'kubernetes.io': undefined}],
      [
        'an account without a uid',
        {'kubernetes.io': {namespace: 'a', serviceaccount: {name: 'robot'}}},
      ],
      [
        'a binding that cannot be read',
        {'kubernetes.io': {namespace: 'a', serviceaccount: {name: 'robot', uid: 'sa-1'}, pod: 'x'}},
      ],
    ]
    for (const [name, change] of changes) {
      it(`with ${name}, is refused`, async () => refused(await signed(change)))
    }

    it('with the key of somebody else, is refused', async () => {
      const {signing} = createTokenKeys(otherKey)
      await refused(await signJwt(claims(), signing))
      await refused(await signJwt(claims(), {...signing, id: keys.signing.id}))
    })

    it('without a signature, is taken for no token at all', async () => {
      for (const alg of ['none', 'HS256']) {
        const input = `${encode({alg, kid: keys.signing.id})}.${encode(claims())}`
        const mac = createHmac('sha256', 'secret').update(input).digest('base64url')
        assert.equal(await authenticate(`${input}.${mac}`), undefined)
        assert.equal(await authenticate(`${input}.`), undefined)
      }
    })

    it('with claims changed after signing, is refused', async () => {
      const [header, , signature] = (await signed({})).split('.')
      await refused([header, encode({...claims(), jti: 'x'}), signature].join('.'))
    })

    it('with an algorithm that is not the key’s, is refused', async () => {
      await refused(
        await signJwt(claims(), {...createTokenKeys(ecKey).signing, id: keys.signing.id}),
      )
    })

    /** With a signature that is right, whatever the header says. */
    const signedUnder = (header: string, payload = encode(claims())) => {
      const input = `${Buffer.from(header).toString('base64url')}.${payload}`
      return `${input}.${sign('sha256', Buffer.from(input), rsaKey).toString('base64url')}`
    }
    const headerOf = (changes: object) =>
      JSON.stringify({alg: 'RS256', kid: keys.signing.id, ...changes})

    it('with a critical header, is taken for no token at all', async () => {
      for (const fields of [{crit: ['b64'], b64: false}, {crit: ['x'], x: 1}, {crit: []}]) {
        assert.equal(await authenticate(signedUnder(headerOf(fields))), undefined)
      }
    })

    it('with the name of a key that we do not have, is refused; without a name, it is not', async () => {
      await refused(signedUnder(headerOf({kid: 'other'})))
      await accepted(signedUnder(headerOf({kid: undefined})))
    })

    it('with a name of a key that is not text, is taken for no token at all', async () => {
      assert.equal(await authenticate(signedUnder(headerOf({kid: 7}))), undefined)
    })

    it('with an algorithm that appears twice, goes by the last', async () => {
      await accepted(signedUnder(`{"alg":"none","alg":"RS256"}`))
      assert.equal(await authenticate(signedUnder(`{"alg":"RS256","alg":"none"}`)), undefined)
    })

    it('with its payload detached, is taken for no token at all', async () => {
      assert.equal(await authenticate(signedUnder(headerOf({}), '')), undefined)
    })

    it('with a huge header, is refused before it is read', async () => {
      const token = signedUnder(headerOf({x: 'x'.repeat(20_000)}))
      await assert.rejects(authenticateBearer([tokens], token, [ISSUER]), /too long/)
    })
  })

  it('reviews tokens for others', async () => {
    const review = createTokenReview([tokens], [ISSUER])
    const verdict = await review(await issue(), [])
    assert.ok(verdict.authenticated)
    assert.deepEqual(verdict.audiences, [ISSUER])
    assert.equal(verdict.user.groups.at(-1), 'system:authenticated')
    assert.deepEqual(await review('nonsense', []), {
      authenticated: false,
      error: 'invalid bearer token',
    })
    assert.equal((await review(await issue(), ['vault'])).authenticated, false)
  })

  it('reviews tokens without audiences as meant for the server', async () => {
    const plain: BearerAuthenticator = {
      name: 'plain',
      authenticate: () => ({user: {username: 'u', groups: []}}),
    }
    const review = createTokenReview([plain], [ISSUER])
    const verdict = await review('x', [])
    assert.deepEqual(verdict.authenticated && verdict.audiences, [ISSUER])
    assert.equal((await review('x', ['vault'])).authenticated, false)
  })

  it('tells others how to check tokens', () => {
    keys = createTokenKeys(ecKey, [rsaKey])
    assert.deepEqual(openidConfiguration(ISSUER, `${ISSUER}/openid/v1/jwks`, keys), {
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
    })
  })

  it('shows no private part of its keys', () => {
    keys = createTokenKeys(ecKey, [rsaKey])
    const names = jsonWebKeySet(keys).keys.map((key) => Object.keys(key).sort().join())
    assert.deepEqual(names, ['alg,crv,kid,kty,use,x,y', 'alg,e,kid,kty,n,use'])
  })
})
