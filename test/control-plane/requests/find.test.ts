import assert from 'node:assert/strict'
import fc from 'fast-check'
import {matcherOf, selectOf} from '../../../src/control-plane/requests/find.ts'

const NOW = new Date('2026-01-01T00:00:00Z')

const csr = (username: string, creationTimestamp = NOW.toISOString()) => ({
  metadata: {name: 'a', creationTimestamp},
  spec: {request: '', signerName: 'a.b/c', username},
})

describe('a filter of requests', () => {
  it('leaves one signer to the server, and keeps several for itself', () => {
    assert.equal(selectOf({signers: ['a.b/c']}).fieldSelector, 'spec.signerName=a.b/c')
    assert.equal(selectOf({signers: ['a.b/c', 'd.e/f']}).fieldSelector, undefined)
  })

  it('takes * in the name of a requester for anything, as a regular expression would', () => {
    const letters = fc.string({unit: fc.constantFrom('a', 'b', ':'), maxLength: 8})
    const patterns = fc.string({unit: fc.constantFrom('a', 'b', ':', '*'), maxLength: 6})
    fc.assert(
      fc.property(letters, patterns, (name, pattern) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
        assert.equal(matcherOf({requesters: [pattern]}, NOW)(csr(name)), expected)
      }),
    )
  })

  it('counts ages from now', () => {
    const old = csr('ada', '2025-12-31T22:59:59Z')
    assert.equal(matcherOf({olderThan: 3_600_000}, NOW)(old), true)
    assert.equal(matcherOf({newerThan: 3_600_000}, NOW)(old), false)
    assert.equal(matcherOf({olderThan: 3_600_000}, NOW)(csr('ada')), false)
  })
})
