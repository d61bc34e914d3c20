import assert from 'node:assert/strict'
import {
  describeToken,
  groupsOfUser,
  isBootstrapGroup,
  listUsages,
  parseUsages,
  requireGroups,
  splitGroups,
} from '../../src/bootstrap/token-info.ts'
import {HOUR, NOW} from './support.ts'

describe('usages of tokens', () => {
  for (const names of [[], ['signing'], ['authentication'], ['authentication', 'signing']]) {
    it(`may be [${names.join()}]`, () => {
      assert.deepEqual(listUsages(parseUsages(names)), names)
    })
  }

  it('come in any order', () => {
    assert.deepEqual(parseUsages(['signing', 'authentication']), {
      signing: true,
      authentication: true,
    })
  })

  for (const names of [['foo'], ['signing', 'foo'], [''], ['Signing'], ['constructor']]) {
    it(`may not be [${names.join()}]`, () => {
      assert.throws(() => parseUsages(names), {code: 'USAGE'})
    })
  }
})

const PREFIX = 'system:bootstrappers:'

describe('groups of tokens', () => {
  for (const suffix of ['foo', 'foo:bar:baz', 'foo-bar-42', 'x'.repeat(256)]) {
    it(`may be ${PREFIX}${suffix.slice(0, 20)}`, () => {
      assert.equal(isBootstrapGroup(PREFIX + suffix), true)
    })
  }

  for (const name of [
    `${PREFIX}Foo`,
    'foo',
    '',
    'system:bootstrappers',
    PREFIX,
    `${PREFIX} `,
    `${PREFIX}*`,
    `${PREFIX}foo:`,
    `${PREFIX}foo-`,
    `${PREFIX}foo\n`,
    `${PREFIX}<script> alert("scary?!") </script>`,
    PREFIX + 'x'.repeat(300),
    'system:masters',
  ]) {
    it(`may not be ${JSON.stringify(name.slice(0, 60))}`, () => {
      assert.equal(isBootstrapGroup(name), false)
      assert.throws(() => requireGroups([`${PREFIX}foo`, name]), {code: 'USAGE'})
    })
  }

  it('are each there once, sorted, with the default group', () => {
    const list = `${PREFIX}foo,${PREFIX}bar,${PREFIX}foo`
    assert.deepEqual(groupsOfUser(splitGroups(list)), [
      'system:bootstrappers',
      `${PREFIX}bar`,
      `${PREFIX}foo`,
    ])
  })

  it('are only the default group where the list is empty', () => {
    assert.deepEqual(groupsOfUser(splitGroups('')), ['system:bootstrappers'])
  })

  for (const list of [`${PREFIX}foo,bad`, `${PREFIX}foo,`, `,${PREFIX}foo`, ` ${PREFIX}foo`]) {
    it(`are all refused for one that is bad: "${list}"`, () => {
      assert.equal(groupsOfUser(splitGroups(list)), undefined)
    })
  }
})

const token = {id: 'k2m9xq', secret: 'w8h3t0vz5n1rjc7e'}

describe('a new token', () => {
  it('is for a day, for both usages and for the group of nodes that join', () => {
    assert.deepEqual(describeToken(token, {}, NOW), {
      token,
      description: '',
      expires: new Date(NOW.getTime() + 24 * HOUR),
      usages: {signing: true, authentication: true},
      groups: ['system:bootstrappers:kubeadm:default-node-token'],
    })
  })

  it('never expires with a time to live of 0', () => {
    assert.equal('expires' in describeToken(token, {ttl: 0}, NOW), false)
  })

  it('goes by the time it expires where that and a time to live are given', () => {
    const expires = new Date('2027-01-01T00:00:00Z')
    assert.deepEqual(describeToken(token, {expires, ttl: HOUR}, NOW).expires, expires)
  })

  it('has no groups where it does not authenticate', () => {
    const usages = {signing: true, authentication: false}
    assert.deepEqual(describeToken(token, {usages}, NOW).groups, [])
  })

  it('refuses groups where it does not authenticate', () => {
    const usages = {signing: true, authentication: false}
    const groups = ['system:bootstrappers:foo']
    assert.throws(() => describeToken(token, {usages, groups}, NOW), {code: 'USAGE'})
  })

  it('refuses a group that no token may have', () => {
    assert.throws(() => describeToken(token, {groups: ['system:masters']}, NOW), {code: 'USAGE'})
  })

  for (const ttl of [-1, 8000 * 365 * 24 * HOUR]) {
    it(`refuses a time to live of ${ttl} ms`, () => {
      assert.throws(() => describeToken(token, {ttl}, NOW), {code: 'USAGE'})
    })
  }
})
