import assert from 'node:assert/strict'
import {moment, residual} from '../../src/cli/views/human-time.ts'

describe('residual', () => {
  const cases: [number | null, string][] = [
    [null, '<none>'],
    [-1, '<invalid>'],
    [59, '0m'],
    [3 * 3600, '3h'],
    [364 * 86_400 + 5, '364d'],
    [3650 * 86_400 - 1, '9y'],
  ]
  for (const [seconds, text] of cases) {
    it(`shows ${String(seconds)} seconds as ${text}`, () => assert.equal(residual(seconds), text))
  }
})

describe('moment', () => {
  it('is written as kubeadm writes it', () => {
    assert.equal(moment('2027-11-06T02:07:00.000Z'), 'Nov 06, 2027 02:07 UTC')
  })
})
