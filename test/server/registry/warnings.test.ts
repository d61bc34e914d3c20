import assert from 'node:assert/strict'
import {warningHeaders} from '../../../src/server/registry/warnings.ts'

describe('warnings of an answer', () => {
  it('are headers that any client can read', () => {
    assert.deepEqual(warningHeaders(['unknown field "a\n"']), ['299 - "unknown field \\"a?\\""'])
  })

  it('are cut once they would make the headers long, however many fields are unknown', () => {
    const headers = warningHeaders(Array.from({length: 100}, () => 'x'.repeat(1_000_000)))
    assert.equal(headers.length, 16)
    assert.ok(headers.join('').length < 5000)
  })
})
