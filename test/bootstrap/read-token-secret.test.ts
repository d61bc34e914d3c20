import assert from 'node:assert/strict'
import {
  authenticatesAs,
  expirationOf,
  isUsableForSigning,
  readTokenSecret,
  signingToken,
} from '../../src/bootstrap/read-token-secret.ts'
import type {BootstrapToken} from '../../src/bootstrap/token.ts'
import {foobarSecret, HOUR, NOW, type SecretChanges} from './support.ts'

const fieldsOf = (changes: SecretChanges) => {
  const data = {'usage-bootstrap-signing': 'true', ...changes.data}
  return readTokenSecret(foobarSecret({...changes, data}), NOW).problems.map(({field}) => field)
}

describe('reading a Secret of a token', () => {
  it('finds nothing wrong with a good one', () => {
    assert.deepEqual(fieldsOf({}), [])
  })

  const nameAndId = (id: string) => ({name: `bootstrap-token-${id}`, data: {'token-id': id}})

  it('accepts the name bootstrap-token-abc123', () => {
    assert.deepEqual(fieldsOf(nameAndId('abc123')), [])
  })

  for (const id of ['', 'abc', 'abc123ghi', 'ABC123']) {
    it(`finds the name bootstrap-token-${id} wrong`, () => {
      assert.ok(fieldsOf(nameAndId(id)).includes('metadata.name'))
    })
  }

  for (const name of ['', 'abc123', 'foobar', 'bad-name']) {
    it(`finds the name "${name}" wrong`, () => {
      assert.ok(fieldsOf({name}).includes('metadata.name'))
    })
  }

  const wrong: [string, SecretChanges, string][] = [
    ['another namespace', {namespace: 'default'}, 'metadata.namespace'],
    ['another type', {type: 'Opaque'}, 'type'],
    ['an id that is not in the name', {data: {'token-id': 'barfoo'}}, 'token-id'],
    ['an id in another case', {data: {'token-id': 'FOOBAR'}}, 'token-id'],
    ['no id', {data: {'token-id': undefined}}, 'token-id'],
    ['no secret', {data: {'token-secret': ''}}, 'token-secret'],
    ['a malformed secret', {data: {'token-secret': 'tokenSecret'}}, 'token-secret'],
    ['a deletion', {deletionTimestamp: '2026-03-01T11:00:00Z'}, 'metadata.deletionTimestamp'],
    ['a bad expiration', {data: {expiration: 'invalid date'}}, 'expiration'],
    ['an expiration now', {data: {expiration: '2026-03-01T12:00:00Z'}}, 'expiration'],
    ['a bad group', {data: {'auth-extra-groups': 'foo'}}, 'auth-extra-groups'],
    ['a bad group of old', {data: {'auth-groups': 'foo'}}, 'auth-extra-groups'],
  ]
  for (const [name, changes, field] of wrong) {
    it(`names ${field} for ${name}, and nothing else`, () => {
      assert.deepEqual(fieldsOf(changes), [field])
    })
  }

  it('gives no token where the Secret is not one', () => {
    assert.equal(readTokenSecret(foobarSecret({type: 'Opaque'}), NOW).info, undefined)
    assert.equal(readTokenSecret({metadata: {}}, NOW).info, undefined)
  })

  it('still gives a token that has expired, so that it can be listed', () => {
    const secret = foobarSecret({data: {expiration: '2009-11-10T23:00:00Z'}})
    assert.equal(readTokenSecret(secret, NOW).info?.token.id, 'foobar')
  })

  it('reads groups under both of their keys', () => {
    const data = {
      'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a',
      'auth-groups': 'system:bootstrappers:a,system:bootstrappers:c',
    }
    assert.deepEqual(readTokenSecret(foobarSecret({data}), NOW).info?.groups, [
      'system:bootstrappers:b',
      'system:bootstrappers:a',
      'system:bootstrappers:c',
    ])
  })

  it('shows the secret in no problem', () => {
    const data = {'token-secret': 'LEAKED-SECRET', expiration: 'LEAKED-TIME'}
    const {problems} = readTokenSecret(foobarSecret({data}), NOW)
    assert.doesNotMatch(JSON.stringify(problems), /LEAKED/)
  })
})

describe('the expiration of a token', () => {
  for (const [expiration, expected] of [
    [undefined, undefined],
    ['', undefined],
    ['2026-03-01T11:00:00Z', new Date('2026-03-01T11:00:00Z')],
    ['2026-03-01T12:00:02Z', new Date('2026-03-01T12:00:02Z')],
    ['garbage', new Date(0)],
  ] as const) {
    it(`is ${expected?.toISOString() ?? 'never'} for ${JSON.stringify(expiration)}`, () => {
      assert.deepEqual(expirationOf(foobarSecret({data: {expiration}})), expected)
    })
  }
})

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
    const data = {'token-id': 'abc123', 'token-secret': 'tokensecret01234', ...changes}
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
    ['one whose secret nobody can log in with', {...signs, 'token-secret': 'SHORT'}, false],
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
    assert.deepEqual(signingToken(secretOf(signs), NOW), {id: 'abc123', secret: 'tokensecret01234'})
  })

  it('does not work for a Secret being deleted', () => {
    const secret = secretOf(signs)
    secret.metadata.deletionTimestamp = '2026-03-01T11:59:59Z'
    assert.equal(isUsableForSigning(secret, NOW), false)
  })
})
