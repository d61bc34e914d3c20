import assert from 'node:assert/strict'
import {generateToken} from '../../src/bootstrap/generate-token.ts'
import {formatToken, parseToken, TOKEN_CHARACTERS} from '../../src/bootstrap/token.ts'
import {weaknessOf} from '../../src/bootstrap/weak-token.ts'

const DRAWN = 2000

describe('a generated token', () => {
  const tokens = Array.from({length: DRAWN}, generateToken)

  it('has the form of a token, is strong, and is never the same', () => {
    for (const token of tokens) {
      assert.deepEqual(parseToken(formatToken(token)), token)
      assert.equal(weaknessOf(token), undefined)
    }
    assert.equal(new Set(tokens.map(({secret}) => secret)).size, DRAWN)
  })

  // A byte's remainder by 36 favours the first four characters by a seventh: nine standard deviations over these draws.
  for (let first = 0; first < TOKEN_CHARACTERS.length; first += 4) {
    const group = TOKEN_CHARACTERS.slice(first, first + 4)
    it(`has the characters ${group} as often as others`, () => {
      const drawn = tokens.map(({id, secret}) => id + secret).join('')
      const count = drawn.split('').filter((character) => group.includes(character)).length
      const expected = (drawn.length * group.length) / TOKEN_CHARACTERS.length
      assert.ok(Math.abs(count - expected) < 6 * Math.sqrt(expected), `${count}, not ${expected}`)
    })
  }
})
