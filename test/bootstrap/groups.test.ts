import assert from 'node:assert/strict'
import {
  groupsOfUser,
  isBootstrapGroup,
  requireGroups,
  splitGroups,
} from '../../src/bootstrap/groups.ts'

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
