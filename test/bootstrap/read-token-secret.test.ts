import assert from 'node:assert/strict'
import {expirationOf, readTokenSecret} from '../../src/bootstrap/read-token-secret.ts'
import {NOW, foobarSecret, type SecretChanges} from './support.ts'

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
