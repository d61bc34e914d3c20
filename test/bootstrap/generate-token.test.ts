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

  it('favours no character', () => {
    const counts = new Map<string, number>()
    for (const character of tokens.flatMap(({id, secret}) => (id + secret).split(''))) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    const expected = (DRAWN * 22) / TOKEN_CHARACTERS.length
    // Seven standard deviations: chance does not get there, a remainder of bytes (a seventh more) leaves it behind.
    const most = 7 * Math.sqrt(expected)
    for (const character of TOKEN_CHARACTERS) {
      const count = counts.get(character) ?? 0
      assert.ok(Math.abs(count - expected) < most, `${character}: ${count} of ${expected}`)
    }
  })
})
