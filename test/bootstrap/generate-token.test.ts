import assert from 'node:assert/strict'
import {generateToken, requireStrongToken, weaknessOf} from '../../src/bootstrap/generate-token.ts'
import {formatToken, parseToken, TOKEN_CHARACTERS} from '../../src/bootstrap/token.ts'
import {TrustError} from '../../src/errors.ts'

const WEAK: Record<string, string> = {
  'the example of kubeadm': 'abcdef.0123456789abcdef',
  'the example of the bootstrap token pages': '07401b.f395accd246ae52d',
  'the example of the discovery design': 'ae23dc.faddc87f5a5ab458',
  'an example under another id': 'q3w8zt.f395accd246ae52d',
  'one character': 'k2m9xq.aaaaaaaaaaaaaaaa',
  'few characters': 'k2m9xq.a1b2a2b1aabb1122',
  'only digits': 'k2m9xq.9283746501827364',
  'a repeated block': 'k2m9xq.p4ssw0rdp4ssw0rd',
  'the alphabet': 'k2m9xq.ghijklmnopqrstuv',
  'the alphabet backwards': 'k2m9xq.vutsrqponmlkjihg',
  'pairs that count up': 'k2m9xq.aabbccddeeffgghh',
  'a row of the keyboard': 'k2m9xq.qwertyuiopasdfgh',
  'the id in the secret': 'k2m9xq.7hk2m9xqzt4wcb1d',
}

describe('a weak token', () => {
  for (const [name, text] of Object.entries(WEAK)) {
    it(`is ${name}`, () => {
      assert.throws(() => requireStrongToken(parseToken(text)), {code: 'TOKEN_WEAK'})
    })
  }

  it('is refused without showing its secret', () => {
    const token = parseToken('k2m9xq.p4ssw0rdp4ssw0rd')
    assert.throws(
      () => requireStrongToken(token),
      (error) => error instanceof TrustError && !error.message.includes(token.secret),
    )
  })

  for (const text of ['k2m9xq.w8h3t0vz5n1rjc7e', '07401b.f395accd246ae52e']) {
    it(`is not ${text}`, () => {
      assert.equal(weaknessOf(parseToken(text)), undefined)
    })
  }
})

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
