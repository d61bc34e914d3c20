import assert from 'node:assert/strict'
import type {PolicyRule} from '../../../src/api/rbac.ts'
import {covers} from '../../../src/control-plane/init/objects.ts'

const rule = (verbs: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: [''],
  resources: resources.split(','),
  ...(names !== undefined && {resourceNames: names.split(',')}),
})

describe('a rule that covers another', () => {
  const cases: {name: string; rule: PolicyRule; wanted: PolicyRule; expected: boolean}[] = [
    {name: 'the same', rule: rule('get', 'pods'), wanted: rule('get', 'pods'), expected: true},
    {
      name: 'more verbs',
      rule: rule('get,list', 'pods'),
      wanted: rule('get', 'pods'),
      expected: true,
    },
    {
      name: 'fewer verbs',
      rule: rule('get', 'pods'),
      wanted: rule('get,list', 'pods'),
      expected: false,
    },
    {name: 'every verb', rule: rule('*', 'pods'), wanted: rule('get', 'pods'), expected: true},
    {
      name: 'another resource',
      rule: rule('get', 'nodes'),
      wanted: rule('get', 'pods'),
      expected: false,
    },
    {name: 'every resource', rule: rule('get', '*'), wanted: rule('get', 'pods'), expected: true},
    {
      name: 'all names',
      rule: rule('get', 'pods'),
      wanted: rule('get', 'pods', 'a'),
      expected: true,
    },
    {
      name: 'more names',
      rule: rule('get', 'pods', 'a,b'),
      wanted: rule('get', 'pods', 'a'),
      expected: true,
    },
    {
      name: 'another name',
      rule: rule('get', 'pods', 'b'),
      wanted: rule('get', 'pods', 'a'),
      expected: false,
    },
    {
      name: 'one name of all',
      rule: rule('get', 'pods', 'a'),
      wanted: rule('get', 'pods'),
      expected: false,
    },
  ]
  for (const {name, rule: one, wanted, expected} of cases) {
    it(`${expected ? 'has' : 'has not'} ${name}`, () => {
      assert.equal(covers(one, wanted), expected)
    })
  }
})
