import assert from 'node:assert/strict'
import {addedAuthorities} from '../../../src/control-plane/config/added-authorities.ts'

const read = (...values: unknown[]) => addedAuthorities(values, 'authorities')

describe('CAs that an operator adds to the configuration', () => {
  it('sign clients unless they say otherwise', () => {
    assert.deepEqual(read({name: 'vpn-ca'}), [{name: 'vpn-ca', signs: 'clients'}])
    const whole = {name: 'a-ca', signs: 'servers', description: 'all of it', onChange: 'true'}
    assert.deepEqual(read(whole), [whole])
  })

  for (const [what, value, message] of [
    ['a name without the ending', {name: 'vpn'}, /end with "-ca"/],
    ['a name that is a path', {name: '../x-ca'}, /lowercase/],
    ['a name that is too long', {name: `${'x'.repeat(60)}-ca`}, /at most 62/],
    ['a CA of the control plane', {name: 'client-ca'}, /has a CA of that name/],
    ['a CA of an etcd', {name: 'etcd-ca'}, /has a CA of that name/],
    ['no name', {signs: 'clients'}, /name is missing/],
    ['an unknown purpose', {name: 'a-ca', signs: 'both'}, /clients or servers/],
    [
      'an unknown field',
      {name: 'a-ca', trustedFor: []},
      /unknown field authorities\[0\].trustedFor/,
    ],
    ['a command with NUL', {name: 'a-ca', onChange: 'a\0b'}, /NUL/],
    ['a text that is too long', {name: 'a-ca', description: 'x'.repeat(5000)}, /at most 4096/],
    ['something that is no map', 'a-ca', /not a map/],
  ] as const) {
    it(`refuse ${what}`, () => {
      assert.throws(() => read(value), {code: 'CONFIG_INVALID', message})
    })
  }

  it('refuse a name twice, and too many', () => {
    assert.throws(() => read({name: 'a-ca'}, {name: 'a-ca'}), {message: /twice/})
    const many = Array.from({length: 65}, (_, index) => ({name: `n${index}-ca`}))
    assert.throws(() => read(...many), {message: /more than 64/})
  })
})
