import assert from 'node:assert/strict'
import {hostname} from 'node:os'
import {ownNodeName, requireNodeName} from '../../src/node/node-name.ts'

describe('the name of a node', () => {
  for (const name of [
    '',
    'INVALID-NODENAME',
    'invalid-nodename-',
    'invalid-node?name',
    'a..b',
    'a_b',
  ]) {
    it(`is not "${name}"`, () => {
      assert.throws(() => requireNodeName(name), {code: 'USAGE'})
    })
  }

  for (const name of ['a', 'node1', 'node-1.example.com', '0']) {
    it(`may be "${name}"`, () => {
      assert.equal(requireNodeName(name), name)
    })
  }

  it('has at most 253 characters, as Kubernetes has it', () => {
    const longest = `${'a'.repeat(200)}.${'b'.repeat(52)}`
    assert.equal(requireNodeName(longest), longest)
    assert.throws(() => requireNodeName(`${longest}c`), {code: 'USAGE', message: /253 characters/})
  })

  it("is the machine's own in lower case, where nobody says another", () => {
    assert.equal(ownNodeName(), hostname().toLowerCase())
  })
})
