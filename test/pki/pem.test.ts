import assert from 'node:assert/strict'
import fc from 'fast-check'
import {encodePem, parsePem} from '../../src/pki/pem.ts'

describe('PEM', () => {
  it('reads back any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 300}), (bytes) => {
        const [block] = parsePem(encodePem('CERTIFICATE', bytes))
        assert.deepEqual(block?.bytes, Buffer.from(bytes))
      }),
    )
  })

  it('passes over text around and between blocks, and takes any line ending', () => {
    const text = `subject=CN = a\r\n${encodePem('A', Buffer.from('1'))}\nnotes: -----\n${encodePem('B C', Buffer.from('2')).replaceAll('\n', '\r\n')}bye`
    assert.deepEqual(
      parsePem(text).map(({label, bytes}) => [label, bytes.toString()]),
      [
        ['A', '1'],
        ['B C', '2'],
      ],
    )
  })

  it('keeps header lines apart from the data', () => {
    const text =
      '-----BEGIN K-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\nAQID\n-----END K-----\n'
    assert.deepEqual(parsePem(text), [
      {
        label: 'K',
        bytes: Buffer.from([1, 2, 3]),
        headers: ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES'],
      },
    ])
  })

  it('finds nothing in text without blocks', () => {
    assert.deepEqual(parsePem('nothing here'), [])
  })

  for (const [name, text] of [
    ['a block without an end', '-----BEGIN A-----\nAQID\n'],
    ['a block inside of a block', '-----BEGIN A-----\n-----BEGIN B-----\n-----END B-----\n'],
    ['a block that is ended as another', '-----BEGIN A-----\nAQID\n-----END B-----\n'],
    ['data that is not base64', '-----BEGIN A-----\nAQ*D\n-----END A-----\n'],
    ['base64 that is cut short', '-----BEGIN A-----\nAQI\n-----END A-----\n'],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parsePem(text), {code: 'PEM_INVALID'})
    })
  }
})
