import assert from 'node:assert/strict'
import {
  formatSealed,
  givenHead,
  parseHead,
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

  it('is read with its seal and without, if nobody has to be convinced', () => {
    const unsealed = {chain: A, size: 1234, hash: B}
    assert.deepEqual(parseHead(`${A}:1234:${B}`), unsealed)
    assert.deepEqual(parseHead(formatSealed(head)), unsealed)
    assert.equal(parseHead(B), undefined)
  })

  it('is given and handed in apart, beside what a request has already', () => {
    const csr = {metadata: {name: 'one', annotations: {kept: 'yes'}}}
    const both = withGiven(withWitnessed(csr, head), formatSealed({...head, size: 1}))
    assert.equal(witnessedHead(both)?.size, 1234)
    assert.equal(givenHead(both)?.size, 1)
    assert.equal(both.metadata.annotations.kept, 'yes')
    assert.deepEqual(csr.metadata.annotations, {kept: 'yes'})
    assert.equal(withWitnessed(csr, undefined), csr)
  })

  const filled = (count: number, value: string) => ({
    metadata: {
      annotations: Object.fromEntries(
        Array.from({length: count}, (_, index) => [`example.com/n${index}`, value]),
      ),
    },
  })

  for (const [name, csr, isGiven] of [
    ['some annotations', filled(32, 'x'), true],
    ['a large one', filled(1, 'x'.repeat(16_000)), true],
    ['very many', filled(33, 'x'), false],
    ['as many as a server accepts', filled(1024, 'x'), false],
    ['very large ones', filled(2, 'x'.repeat(8192)), false],
    ['a large one of wide letters', filled(1, '\u20ac'.repeat(6000)), false],
  ] as const) {
    it(`is ${isGiven ? '' : 'not '}given to a request with ${name}`, () => {
      const given = givenHead(withGiven(csr, formatSealed(head)))
      assert.deepEqual(given, isGiven ? head : undefined)
    })
  }
})
