import assert from 'node:assert/strict'
import type {BootstrapToken} from '../../src/bootstrap/token.ts'
import {authenticatesAs, isUsableForSigning, signingToken} from '../../src/bootstrap/use-token.ts'
import {HOUR, NOW, foobarSecret, type SecretChanges} from './support.ts'

const FOOBAR: BootstrapToken = {id: 'foobar', secret: 'circumnavigation'}

describe('authenticating by a token', () => {
  it('gives the user of the token and the group of all tokens', () => {
    assert.deepEqual(authenticatesAs(foobarSecret(), FOOBAR, NOW), {
      username: 'system:bootstrap:foobar',
      groups: ['system:bootstrappers'],
    })
  })

  for (const key of ['auth-extra-groups', 'auth-groups']) {
    it(`adds the groups of ${key}, sorted`, () => {
      const data = {[key]: 'system:bootstrappers:foo,system:bootstrappers:bar'}
      assert.deepEqual(authenticatesAs(foobarSecret({data}), FOOBAR, NOW)?.groups, [
        'system:bootstrappers',
        'system:bootstrappers:bar',
        'system:bootstrappers:foo',
      ])
    })
  }

  it('works for a token that expires in 2109', () => {
    const data = {expiration: '2109-11-10T23:00:00Z'}
    assert.ok(authenticatesAs(foobarSecret({data}), FOOBAR, NOW))
  })

  const usage = 'usage-bootstrap-authentication'
  const refusals: {name: string; changes?: SecretChanges; presented?: BootstrapToken}[] = [
    {name: 'a bad group', changes: {data: {'auth-extra-groups': 'foo'}}},
    {
      name: 'a bad group among good ones',
      changes: {data: {'auth-extra-groups': 'system:bootstrappers:foo,system:masters'}},
    },
    {name: 'a Secret of another name', changes: {name: 'bad-name'}},
    {name: 'a Secret without the usage', changes: {data: {[usage]: undefined}}},
    ...['True', 'TRUE', '1', 'yes', ' true', 'true\n', ''].map((value) => ({
      name: `the usage ${JSON.stringify(value)}`,
      changes: {data: {[usage]: value}},
    })),
    {name: 'a token of another id', presented: {...FOOBAR, id: 'barfoo'}},
    {name: 'another secret', presented: {...FOOBAR, secret: 'circumnavigatiom'}},
    {name: 'a part of the secret', presented: {...FOOBAR, secret: 'circumnavigatio'}},
    {name: 'a Secret being deleted', changes: {deletionTimestamp: '2026-03-01T11:59:59Z'}},
    {name: 'an expired token', changes: {data: {expiration: '2009-11-10T23:00:00Z'}}},
    {name: 'a token that expires now', changes: {data: {expiration: '2026-03-01T12:00:00Z'}}},
    {name: 'an expiration that cannot be read', changes: {data: {expiration: 'soon'}}},
    {
      name: 'an id of three characters',
      changes: {name: 'bootstrap-token-foo', data: {'token-id': 'foo'}},
      presented: {...FOOBAR, id: 'foo'},
    },
    {name: 'a Secret of another type', changes: {type: 'Opaque'}},
    {name: 'a token-id that is not in the name', changes: {data: {'token-id': 'barfoo'}}},
    {
      name: 'an empty secret on both sides',
      changes: {data: {'token-secret': ''}},
      presented: {...FOOBAR, secret: ''},
    },
    {
      name: 'a malformed secret on both sides',
      changes: {data: {'token-secret': 'short'}},
      presented: {...FOOBAR, secret: 'short'},
    },
  ]
  for (const {name, changes, presented = FOOBAR} of refusals) {
    it(`fails for ${name}`, () => {
      assert.equal(authenticatesAs(foobarSecret(changes), presented, NOW), undefined)
    })
  }

  it('fails for a Secret without data', () => {
    const {data: _, ...empty} = foobarSecret()
    assert.equal(authenticatesAs(empty, FOOBAR, NOW), undefined)
  })
})

describe('signing by a token', () => {
  const inHours = (hours: number) => new Date(NOW.getTime() + hours * HOUR).toISOString()
  const secretOf = (changes: SecretChanges['data'], name = 'bootstrap-token-abc123') => {
    const data = {'token-id': 'abc123', 'token-secret': 'tokenSecret', ...changes}
    return foobarSecret({name, data})
  }
  const signs = {'usage-bootstrap-signing': 'true'}
  const blank = {'usage-bootstrap-signing': ''}

  const rows: [string, SecretChanges['data'], boolean, string?][] = [
    ['one that never expires', signs, true],
    ['one that expires in an hour', {...signs, expiration: inHours(1)}, true],
    ['one that expired an hour ago', {...signs, expiration: inHours(-1)}, false],
    ['one whose expiration is garbage', {...signs, expiration: 'garbage'}, false],
    ['garbage without the usage', {...blank, expiration: 'garbage'}, false],
    ['one without the usage', blank, false],
    ['one without an id', {...signs, 'token-id': ''}, false],
    ['one without a secret', {...signs, 'token-secret': ''}, false],
    ['a name without the prefix', signs, false, 'abc123'],
    ['the name of another id', signs, false, 'bootstrap-token-def456'],
    ['one that cannot authenticate', {...signs, 'auth-extra-groups': 'bad'}, true],
  ]
  for (const [name, data, usable, secretName] of rows) {
    it(`${usable ? 'works' : 'does not work'} for ${name}`, () => {
      assert.equal(isUsableForSigning(secretOf(data, secretName), NOW), usable)
    })
  }

  it('gives the id and the secret to sign with', () => {
    assert.deepEqual(signingToken(secretOf(signs), NOW), {id: 'abc123', secret: 'tokenSecret'})
  })

  it('does not work for a Secret being deleted', () => {
    const secret = secretOf(signs)
    secret.metadata.deletionTimestamp = '2026-03-01T11:59:59Z'
    assert.equal(isUsableForSigning(secret, NOW), false)
  })
})
