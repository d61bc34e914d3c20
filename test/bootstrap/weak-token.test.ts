import assert from 'node:assert/strict'
import {parseToken} from '../../src/bootstrap/token.ts'
import {requireStrongToken, weaknessOf} from '../../src/bootstrap/weak-token.ts'
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
