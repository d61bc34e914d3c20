import assert from 'node:assert/strict'
import fc from 'fast-check'
import {FlattenedSign, flattenedVerify} from 'jose'
import {detachedSigner, findJwsFlaw, signDetached, verifyDetached} from '../../src/bootstrap/jws.ts'
import {anyToken} from './support.ts'

const SONG = 'Hello from the other side. I must have called a thousand times.'
const JOSHUA = {id: 'joshua', secret: 'my voice is my passcode'}
const HEADER = 'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9'
const SIGNED = `${HEADER}..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8`
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const keyOf = (secret: string) => new TextEncoder().encode(secret)

/** A signature that is right for whatever header it has. */
async function signedUnder(header: {alg: string; kid: string; [field: string]: unknown}) {
  const sign = new FlattenedSign(Buffer.from(SONG)).setProtectedHeader(header)
  const {signature} = await sign.sign(keyOf(JOSHUA.secret))
  return `${encode(header)}..${signature}`
}

describe('a detached JWS', () => {
  for (const [content, token, jws] of [
    [SONG, JOSHUA, SIGNED],
    ['', JOSHUA, `${HEADER}..7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk`],
    [
      'payload',
      {id: 'abc123', secret: 'tokenSecret'},
      'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958',
    ],
  ] as const) {
    it(`is what Kubernetes makes of "${content}"`, () => {
      assert.equal(signDetached(content, token), jws)
      assert.equal(verifyDetached(jws, content, token), true)
    })
  }

  it('is made and taken by jose too', async () => {
    const content = fc.string({unit: 'grapheme'})
    await fc.assert(
      fc.asyncProperty(content, anyToken, async (text, token) => {
        const [header = '', , signature = ''] = signDetached(text, token).split('.')
        const payload = Buffer.from(text).toString('base64url')
        const jws = {protected: header, payload, signature}
        const verified = await flattenedVerify(jws, keyOf(token.secret))
        assert.deepEqual(verified.protectedHeader, {alg: 'HS256', kid: token.id})
      }),
      {numRuns: 50},
    )
    assert.equal(await signedUnder({alg: 'HS256', kid: 'joshua'}), SIGNED)
  })

  it('does not verify once content, secret or id is another', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), anyToken, anyToken, (text, added, token, other) => {
        fc.pre(added !== '' && token.id !== other.id && token.secret !== other.secret)
        const jws = signDetached(text, token)
        assert.equal(verifyDetached(jws, text, token), true)
        assert.equal(verifyDetached(jws, text + added, token), false)
        assert.equal(verifyDetached(jws, text, {...token, secret: other.secret}), false)
        assert.equal(verifyDetached(jws, text, {...token, id: other.id}), false)
      }),
    )
  })

  it('does not verify with any one character changed, taken out or put in', () => {
    const place = fc.nat(SIGNED.length - 1)
    fc.assert(
      fc.property(place, fc.string({minLength: 1, maxLength: 1}), (at, character) => {
        const before = SIGNED.slice(0, at)
        const after = SIGNED.slice(at + 1)
        fc.pre(SIGNED.charAt(at) !== character)
        for (const forged of [before + character + after, before + after]) {
          assert.equal(verifyDetached(forged, SONG, JOSHUA), false)
        }
        assert.equal(verifyDetached(SIGNED + character, SONG, JOSHUA), false)
      }),
    )
  })

  const [, , SIGNATURE = ''] = SIGNED.split('.')
  const payload = Buffer.from(SONG).toString('base64url')
  for (const [name, jws, flaw] of [
    ['an unsigned one', `${encode({alg: 'none', kid: 'joshua'})}..`, 'wrong-algorithm'],
    ['alg none over a signature', `${encode({alg: 'none'})}..${SIGNATURE}`, 'wrong-algorithm'],
    ['no algorithm', `${encode({kid: 'joshua'})}..${SIGNATURE}`, 'wrong-algorithm'],
    ['another kid', `${encode({alg: 'HS256', kid: 'abc123'})}..${SIGNATURE}`, 'wrong-key-id'],
    ['no kid', `${encode({alg: 'HS256'})}..${SIGNATURE}`, 'wrong-key-id'],
    ['a truncated signature', SIGNED.slice(0, -1), 'wrong-signature'],
    ['no signature', `${HEADER}..`, 'wrong-signature'],
    ['only a header', HEADER, 'malformed'],
    ['a payload inside', `${HEADER}.${payload}.${SIGNATURE}`, 'malformed'],
    ['padding', `${SIGNED}=`, 'malformed'],
    ['nothing', '', 'malformed'],
    ['a header that is not JSON', `bar..${SIGNATURE}`, 'malformed'],
    ['a header that is null', `${encode(null)}..${SIGNATURE}`, 'malformed'],
  ] as const) {
    it(`is refused as ${flaw} for ${name}`, () => {
      assert.equal(findJwsFlaw(jws, SONG, JOSHUA), flaw)
    })
  }

  it('is refused for bits that base64 passes over', () => {
    const forged = `${SIGNED.slice(0, -1)}9`
    const bytes = (jws: string) => Buffer.from(jws.split('.')[2] ?? '', 'base64url')
    assert.deepEqual(bytes(forged), bytes(SIGNED))
    assert.equal(verifyDetached(forged, SONG, JOSHUA), false)
  })

  it('is refused under a header with more in it, though its signature is right', async () => {
    const jws = await signedUnder({alg: 'HS256', kid: 'joshua', typ: 'JWT'})
    assert.equal(findJwsFlaw(jws, SONG, JOSHUA), 'malformed')
  })

  it('is refused for another HMAC, though its signature is right', async () => {
    const sign = new FlattenedSign(Buffer.from(SONG))
    const header = {alg: 'HS512', kid: 'joshua'}
    const long = 'my voice is my passcode'.repeat(3)
    const {signature} = await sign.setProtectedHeader(header).sign(keyOf(long))
    const flaw = findJwsFlaw(`${encode(header)}..${signature}`, SONG, {id: 'joshua', secret: long})
    assert.equal(flaw, 'wrong-algorithm')
  })

  it('is neither made nor taken with an empty secret, which Kubernetes would do', () => {
    const keyless = {id: 'joshua', secret: ''}
    const jws = `${HEADER}..UfkqvDGiIFxrMnFseDj9LYJOLNrvjW8aHhF71mvvAs8`
    assert.throws(() => signDetached(SONG, keyless), {code: 'TOKEN_MALFORMED'})
    assert.equal(verifyDetached(jws, SONG, keyless), false)
  })

  it('is the same from a signer that is used again', () => {
    const sign = detachedSigner(SONG)
    for (const token of [JOSHUA, {id: 'abc123', secret: 'tokenSecret'}, JOSHUA]) {
      assert.equal(sign(token), signDetached(SONG, token))
    }
  })
})
