import assert from 'node:assert/strict'
import {invalidValue} from '../../../src/server/kernel/field-error.ts'
import {invalid, notFound, StatusError} from '../../../src/server/kernel/status.ts'

const KIND = {group: 'certificates.k8s.io', kind: 'CertificateSigningRequest'}
const MOST = 64 * 1024

const bytesOf = ({status}: StatusError) => Buffer.byteLength(JSON.stringify(status))

describe('a Status that repeats what was sent', () => {
  it('names a few wrong fields in full', () => {
    const {status} = invalid(KIND, 'a', [invalidValue('x', 1, 'no'), invalidValue('y', 'b', 'no')])
    assert.equal(
      status.message,
      'CertificateSigningRequest.certificates.k8s.io "a" is invalid: [x: Invalid value: 1: no, y: Invalid value: "b": no]',
    )
    assert.equal(status.details?.causes?.length, 2)
  })

  it('counts the wrong fields that have no room', () => {
    const errors = Array.from({length: 5000}, (_, index) => invalidValue(`x[${index}]`, 1, 'no'))
    const {status} = invalid(KIND, 'a', errors)
    assert.equal(status.details?.causes?.length, 100)
    assert.match(status.message ?? '', /, and 4900 more\]$/)
  })

  it('stays under 64 kB though every error repeats the whole list', () => {
    const list = Array.from({length: 20_000}, (_, index) => `owner-${index}`)
    const error = invalid(
      KIND,
      'a',
      Array.from({length: 1000}, () => invalidValue('x', list, 'no')),
    )
    assert.ok(bytesOf(error) < MOST, String(bytesOf(error)))
    assert.ok((error.status.details?.causes?.length ?? 0) > 0)
  })

  const long = ['x', '\u0001', '"', '€', '😀', '\ud800']
  for (const character of long) {
    it(`stays under 64 kB with names, values and reasons of ${JSON.stringify(character)}`, () => {
      const text = character.repeat(500_000)
      const errors = Array.from({length: 50}, () => invalidValue(text, text, text))
      assert.ok(bytesOf(invalid(KIND, text, errors)) < MOST)
      assert.ok(bytesOf(notFound({group: text, plural: text}, text)) < MOST)
      const causes = errors.map(() => ({
        reason: 'FieldManagerConflict',
        message: text,
        field: text,
      }))
      assert.ok(bytesOf(new StatusError(409, 'Conflict', text, {causes, uid: text})) < MOST)
    })
  }
})
