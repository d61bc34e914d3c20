import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  formatToken,
  hideSecret,
  hideSecrets,
  isSameSecret,
  isTokenId,
  parseToken,
  parseTokenId,
} from '../../src/bootstrap/token.ts'
import {TrustError} from '../../src/errors.ts'
import {anyToken} from './support.ts'

const REFUSED = [
  '',
  '.',
  '1234567890123456789012',
  '12345.1234567890123456',
  '.1234567890123456',
  '123456.',
  '123456:1234567890.123456',
  'abcdef:1234567890123456',
  'Abcdef.1234567890123456',
  '123456.AABBCCDDEEFFGGHH',
  '123456.AABBCCD-EEFFGGHH',
  'abc*ef.1234567890123456',
  'ABCDEF.abcdef0123456789',
  '.6b6baab1d4a0a171',
  '772ef5.',
  'abcdef.1234567890123456@foobar',
  'f.s',
  'abcdef.',
  'abcdef:abcdef0123456789',
  '"abcdef.abcdef0123456789"',
  '"abcdef.abcdef0123456789',
  'abcdef.ABCDEF0123456789',
  'abcdef.1234567890123456\n',
  'abcdef.12345678901234567',
  'abcdef.123456789012345',
]

const ACCEPTED = [
  'abcdef.1234567890123456',
  '123456.aabbccddeeffgghh',
  'abcdef.abcdef0123456789',
  '123456.1234560123456789',
  '772ef5.6b6baab1d4a0a171',
]

describe('a bootstrap token', () => {
  for (const text of ACCEPTED) {
    it(`is read from ${text}`, () => {
      const [id, secret] = text.split('.')
      assert.deepEqual(parseToken(text), {id, secret})
    })
  }

  for (const text of REFUSED) {
    it(`is not read from ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseToken(text), {code: 'TOKEN_MALFORMED'})
    })
  }

  it('comes back from its text', () => {
    fc.assert(
      fc.property(anyToken, (token) => {
        assert.deepEqual(parseToken(formatToken(token)), token)
      }),
    )
  })

  it('is not echoed in any error where it is mistyped', () => {
    fc.assert(
      fc.property(anyToken, fc.constantFrom('X', ' ', '-', '.'), (token, slip) => {
        for (const parse of [parseToken, parseTokenId]) {
          try {
            parse(formatToken(token) + slip)
            assert.fail('a mistyped token was taken')
          } catch (error) {
            assert.ok(error instanceof TrustError)
            const said = [error.message, error.stack, ...error.suggestions].join()
            assert.ok(!said.includes(token.secret))
          }
        }
      }),
    )
  })

  it('shows its id and covers its secret', () => {
    assert.equal(hideSecret(parseToken('772ef5.6b6baab1d4a0a171')), '772ef5.****************')
  })

  it('is covered wherever it stands in a text', () => {
    const text = 'join --token 772ef5.6b6baab1d4a0a171 (or "123456.aabbccddeeffgghh")'
    assert.equal(
      hideSecrets(text),
      'join --token 772ef5.**************** (or "123456.****************")',
    )
  })

  it('leaves a text without tokens as it is', () => {
    const text = 'https://abcdef.example.com:6443 sha256:0123456789abcdef.pem'
    assert.equal(hideSecrets(text), text)
  })
})

describe('a token id', () => {
  for (const id of ['abcdef', '123456']) {
    it(`may be ${id}`, () => {
      assert.equal(isTokenId(id), true)
      assert.equal(parseTokenId(id), id)
    })
  }

  for (const id of ['', '12345', '1234567890123456789012', 'Abcdef', 'ABCDEF', 'abcdef.']) {
    it(`may not be "${id}"`, () => {
      assert.equal(isTokenId(id), false)
      const suggestions = ['list the tokens with "trustadm token list"']
      assert.throws(() => parseTokenId(id), {code: 'TOKEN_MALFORMED', suggestions})
    })
  }

  it('is taken from a whole token', () => {
    assert.equal(parseTokenId('772ef5.6b6baab1d4a0a171'), '772ef5')
  })
})

describe('two secrets', () => {
  it('are the same exactly where their texts are', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        assert.equal(isSameSecret(left, right), left === right)
        assert.equal(isSameSecret(left, left), true)
      }),
    )
  })
})
