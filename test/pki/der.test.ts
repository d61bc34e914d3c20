import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  DerError,
  DerReader,
  elementsOf,
  readBits,
  readInteger,
  readOid,
  readTime,
} from '../../src/pki/der-reader.ts'
import {TAG, element, oid, time, unsignedInteger} from '../../src/pki/der-writer.ts'

const only = (bytes: Buffer) => new DerReader(bytes).next()

describe('DER', () => {
  it('reads back elements of every length', () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 70_000]) {
      const {content, bytes, tag} = only(element(TAG.octetString, Buffer.alloc(length, 7)))
      assert.equal(content.length, length)
      assert.equal(tag, TAG.octetString)
      assert.equal(
        bytes.length - content.length,
        length < 128 ? 2 : length < 256 ? 3 : length < 65_536 ? 4 : 5,
      )
    }
  })

  it('reads back every object identifier', () => {
    const arc = fc.integer({min: 0, max: 2 ** 40})
    const first = fc.oneof(
      fc.tuple(fc.constantFrom(0, 1), fc.integer({min: 0, max: 39})),
      fc.tuple(fc.constant(2), arc),
    )
    fc.assert(
      fc.property(first, fc.array(arc, {maxLength: 8}), (head, rest) => {
        const dotted = [...head, ...rest].join('.')
        assert.equal(readOid(only(oid(dotted))), dotted)
      }),
    )
  })

  it('writes integers unsigned and in their shortest form', () => {
    fc.assert(
      fc.property(fc.uint8Array({minLength: 1, maxLength: 20}), (bytes) => {
        const hex = readInteger(only(unsignedInteger(bytes))).toString('hex')
        assert.equal(BigInt(`0x${hex}`), BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
      }),
    )
  })

  it('reads back every second of the years that certificates know', () => {
    const date = fc.date({
      min: new Date('1950-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (when) => {
        const written = only(time(when))
        assert.equal(written.tag, when.getUTCFullYear() < 2050 ? TAG.utcTime : TAG.generalizedTime)
        assert.equal(readTime(written).getTime(), Math.floor(when.getTime() / 1000) * 1000)
      }),
    )
  })

  it('reads bits from the left', () => {
    assert.deepEqual(readBits(only(Buffer.from('03020780', 'hex'))), [0])
    assert.deepEqual(readBits(only(Buffer.from('0303070680', 'hex'))), [5, 6, 8])
  })

  for (const [name, hex] of [
    ['a length without an end', '3080'],
    ['a length in more octets than needed', '04810100'],
    ['a leading zero in a length', '0482008000'],
    ['content that is cut short', '0405aabb'],
    ['a missing length', '30'],
    ['a high tag number', '1f8101'],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => only(Buffer.from(hex, 'hex')), DerError)
    })
  }

  for (const [name, read, hex] of [
    ['a padded positive integer', readInteger, '02020001'],
    ['a padded negative integer', readInteger, '0202ff80'],
    ['an empty integer', readInteger, '0200'],
    ['an object identifier that is cut short', readOid, '060255ff'],
    ['a padded object identifier', readOid, '0603558001'],
    ['the thirtieth of February', readTime, '170d3236303233303132303030305a'],
    ['a time with an offset', readTime, '17113236303330313132303030302b30313030'],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => read(only(Buffer.from(hex, 'hex'))), DerError)
    })
  }

  it('answers any bytes with elements or a DerError', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 64}), (bytes) => {
        try {
          const total = elementsOf(Buffer.from(bytes)).reduce(
            (sum, one) => sum + one.bytes.length,
            0,
          )
          assert.equal(total, bytes.length)
        } catch (error) {
          assert.ok(error instanceof DerError)
        }
      }),
    )
  })
})
