import assert from 'node:assert/strict'
import {
  formatSealed,
  givenHead,
  parseSealed,
  withGiven,
  withWitnessed,
  witnessedHead,
} from '../../src/csr/log-head.ts'

const [A, B, SEAL] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(32)]

describe('a head of an issuance log', () => {
  const head = {chain: A, size: 1234, hash: B, seal: SEAL}

  it('is read as it was written', () => {
    assert.deepEqual(parseSealed(formatSealed(head)), head)
  })

  for (const [name, text] of [
    ['nothing', undefined],
    ['a hash alone', B],
    ['no seal', `${A}:1234:${B}`],
    ['a place that is not a number', `${A}:-1:${B}:${SEAL}`],
    ['a place beyond all files', `${A}:${'9'.repeat(16)}:${B}:${SEAL}`],
    ['a line more', `${A}:1234:${B}:${SEAL}\n`],
  ] as const) {
    it(`is not ${name}`, () => assert.equal(parseSealed(text), undefined))
  }

  it('is given and handed in apart, beside what a request has already', () => {
    const csr = {metadata: {name: 'one', annotations: {kept: 'yes'}}}
    const both = withGiven(withWitnessed(csr, head), formatSealed({...head, size: 1}))
    assert.equal(witnessedHead(both)?.size, 1234)
    assert.equal(givenHead(both)?.size, 1)
    assert.equal(both.metadata.annotations.kept, 'yes')
    assert.deepEqual(csr.metadata.annotations, {kept: 'yes'})
    assert.equal(withWitnessed(csr, undefined), csr)
  })
})
