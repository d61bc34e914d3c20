import assert from 'node:assert/strict'
import {createHmac} from 'node:crypto'
import fc from 'fast-check'
import {findJwsFlaw, signDetached} from '../../src/bootstrap/jws.ts'
import {independentJws} from '../helpers/jws.ts'
import {anyToken} from './support.ts'

const SONG = 'Hello from the other side. I must have called a thousand times.'
const JOSHUA = {id: 'joshua', secret: 'my voice is my passcode'}
const HEADER = 'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9'
const SIGNED = `${HEADER}..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8`
const FIELDS = {alg: 'HS256', kid: 'joshua'}
const encodeText = (text: string) => Buffer.from(text).toString('base64url')
const encode = (value: unknown) => encodeText(JSON.stringify(value))
const PAYLOAD = encodeText(SONG)

/** A signature that is right for whatever header it has. */
const signedUnder = (header: string, payload = PAYLOAD) =>
  `${header}..${createHmac('sha256', JOSHUA.secret).update(`${header}.${payload}`).digest('base64url')}`

const verifies = async (...args: Parameters<typeof findJwsFlaw>) =>
  (await findJwsFlaw(...args)) === undefined

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
    it(`is what Kubernetes makes of "${content}"`, async () => {
      assert.equal(await signDetached(content, token), jws)
      assert.equal(await verifies(jws, content, token), true)
    })
  }

  it('is byte for byte what an HMAC over header and content gives', async () => {
    const content = fc.string({unit: 'grapheme'})
    await fc.assert(
      fc.asyncProperty(content, anyToken, async (text, token) => {
        assert.equal(await signDetached(text, token), independentJws(text, token))
        assert.equal(await verifies(independentJws(text, token), text, token), true)
      }),
      {numRuns: 50},
    )
  })

  it('does not verify once content, secret or id is another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.string({minLength: 1}),
        anyToken,
        anyToken,
        async (text, added, token, other) => {
          fc.pre(token.id !== other.id && token.secret !== other.secret)
          const jws = await signDetached(text, token)
          assert.equal(await verifies(jws, text, token), true)
          assert.equal(await verifies(jws, text + added, token), false)
          assert.equal(await verifies(jws, text, {...token, secret: other.secret}), false)
          assert.equal(await verifies(jws, text, {...token, id: other.id}), false)
        },
      ),
    )
  })

  it('does not verify with any one character changed, taken out or put in', async () => {
    const place = fc.nat(SIGNED.length - 1)
    const one = fc.string({minLength: 1, maxLength: 1})
    await fc.assert(
      fc.asyncProperty(place, one, async (at, character) => {
        const before = SIGNED.slice(0, at)
        const after = SIGNED.slice(at + 1)
        fc.pre(SIGNED.charAt(at) !== character)
        for (const forged of [before + character + after, before + after, SIGNED + character]) {
          assert.equal(await verifies(forged, SONG, JOSHUA), false)
        }
      }),
    )
  })

  const [, , SIGNATURE = ''] = SIGNED.split('.')
  for (const [name, jws, flaw] of [
    ['an unsigned one', `${encode({alg: 'none', kid: 'joshua'})}..`, 'wrong-algorithm'],
    ['alg none over a signature', `${encode({alg: 'none'})}..${SIGNATURE}`, 'wrong-algorithm'],
    ['no algorithm', `${encode({kid: 'joshua'})}..${SIGNATURE}`, 'wrong-algorithm'],
    ['another kid', `${encode({alg: 'HS256', kid: 'abc123'})}..${SIGNATURE}`, 'wrong-key-id'],
    ['no kid', `${encode({alg: 'HS256'})}..${SIGNATURE}`, 'wrong-key-id'],
    ['a truncated signature', SIGNED.slice(0, -1), 'wrong-signature'],
    ['no signature', `${HEADER}..`, 'wrong-signature'],
    ['only a header', HEADER, 'malformed'],
    ['a payload inside', `${HEADER}.${PAYLOAD}.${SIGNATURE}`, 'malformed'],
    ['padding', `${SIGNED}=`, 'malformed'],
    ['nothing', '', 'malformed'],
    ['a header that is not JSON', `bar..${SIGNATURE}`, 'malformed'],
    ['a header that is null', `${encode(null)}..${SIGNATURE}`, 'malformed'],
    ['a header that is a list', `${encode(['HS256'])}..${SIGNATURE}`, 'malformed'],
    ['a huge header', signedUnder(encode({...FIELDS, x: 'x'.repeat(2048)})), 'malformed'],
    ['a huge signature', SIGNED + 'A'.repeat(2048), 'malformed'],
    ['a further field', signedUnder(encode({...FIELDS, typ: 'JWT'})), 'malformed'],
    ['a critical header', signedUnder(encode({...FIELDS, crit: ['x'], x: 1})), 'malformed'],
    [
      'a payload that is not encoded',
      signedUnder(encode({...FIELDS, crit: ['b64'], b64: false}), SONG),
      'malformed',
    ],
    [
      'the same kid twice',
      signedUnder(encodeText('{"alg":"HS256","kid":"joshua","kid":"joshua"}')),
      'malformed',
    ],
    [
      'a second algorithm',
      signedUnder(encodeText('{"alg":"HS256","kid":"joshua","alg":"none"}')),
      'wrong-algorithm',
    ],
    ['fields in another order', signedUnder(encode({kid: 'joshua', alg: 'HS256'})), 'malformed'],
  ] as const) {
    it(`is refused as ${flaw} for ${name}`, async () => {
      assert.equal(await findJwsFlaw(jws, SONG, JOSHUA), flaw)
    })
  }

  it('is refused for bits that base64 passes over', async () => {
    const forged = `${SIGNED.slice(0, -1)}9`
    const bytes = (jws: string) => Buffer.from(jws.split('.')[2] ?? '', 'base64url')
    assert.deepEqual(bytes(forged), bytes(SIGNED))
    assert.equal(await findJwsFlaw(forged, SONG, JOSHUA), 'wrong-signature')
  })

  it('is refused for another HMAC, though its signature is right', async () => {
    const header = encode({alg: 'HS512', kid: 'joshua'})
    const mac = createHmac('sha512', JOSHUA.secret).update(`${header}.${PAYLOAD}`)
    const jws = `${header}..${mac.digest('base64url')}`
    assert.equal(await findJwsFlaw(jws, SONG, JOSHUA), 'wrong-algorithm')
  })

  it('is neither made nor taken with an empty secret, which Kubernetes would do', async () => {
    const keyless = {id: 'joshua', secret: ''}
    const jws = `${HEADER}..UfkqvDGiIFxrMnFseDj9LYJOLNrvjW8aHhF71mvvAs8`
    await assert.rejects(signDetached(SONG, keyless), {code: 'TOKEN_MALFORMED'})
    assert.equal(await findJwsFlaw(jws, SONG, keyless), 'wrong-signature')
  })
})
