import assert from 'node:assert/strict'
import fc from 'fast-check'
import {normalizeBase64} from '../../../src/server/codec/scalars.ts'

describe('base64', () => {
  it('comes back as it is where it is written as usual', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        assert.equal(normalizeBase64(text), text)
      }),
    )
  })

  it('loses its line breaks and stray bits', () => {
    assert.equal(normalizeBase64('YW\r\nJj\n'), 'YWJj')
    assert.equal(normalizeBase64('QR=='), 'QQ==')
  })

  const refusals: [text: string, at: number][] = [
    ['not base64!', 3],
    ['YWJ', 0],
    ['YWJjZ', 4],
    ['YQ=', 3],
    ['Y===', 1],
    ['YQ=a', 2],
    ['YQ==YQ==', 4],
    ['-_==', 0],
  ]
  for (const [text, at] of refusals) {
    it(`is refused at byte ${at} when it is ${text}`, () => {
      assert.throws(() => normalizeBase64(text), {
        name: 'MalformedError',
        message: `illegal base64 data at input byte ${at}`,
      })
    })
  }
})
