import assert from 'node:assert/strict'
import {failuresOf, type Findings} from '../../soak/verdict.ts'

const wait = {what: 'get', requests: 10, refused: 0, p50: 5, p99: 20, longest: 30}

const CALM: Findings = {
  seconds: 600,
  attacks: {events: {answers: {201: 5}, breaches: []}},
  waits: [wait],
  refusals: [],
  writes: 10,
  lost: [],
  peak: 200 * 2 ** 20,
  anonymous: 100 * 2 ** 20,
  processor: 60,
  waited: 1,
  generators: 60,
  ownDelay: 10,
  restart: 500,
  descriptors: {before: 30, after: 33},
  faults: [],
}

const FAILURES: {name: string; found: Partial<Findings>; says: RegExp}[] = [
  {
    name: 'somebody honest waited for more than a second',
    found: {waits: [wait, {...wait, what: 'join', longest: 1001}]},
    says: /^somebody honest waited 1001 ms \(join\)$/,
  },
  {
    name: 'an honest request was refused',
    found: {waits: [{...wait, refused: 2}], refusals: ['get: 429']},
    says: /^2 honest requests were refused: get: 429$/,
  },
  {
    name: 'no honest request was answered at all',
    found: {waits: []},
    says: /^no honest request was answered$/,
  },
  {
    name: 'the server took more than 400 MiB',
    found: {peak: 401 * 2 ** 20},
    says: /^the server took 401 MiB$/,
  },
  {
    name: 'an acknowledged write was lost',
    found: {lost: ['note-1 is back']},
    says: /^1 acknowledged writes were lost: note-1 is back$/,
  },
  {
    name: 'an attacker got in',
    found: {attacks: {rejoins: {answers: {}, breaches: ['became the node']}}},
    says: /^rejoins: became the node$/,
  },
  {
    name: 'the server kept connections of attackers',
    found: {descriptors: {before: 30, after: 70}},
    says: /^the server kept 40 descriptors$/,
  },
  {
    name: 'the server ended',
    found: {faults: ['the server ended by itself']},
    says: /^the server ended by itself$/,
  },
]

describe('the verdict of a soak', () => {
  it('is good if nobody honest noticed anything', () => {
    assert.deepEqual(failuresOf(CALM), [])
  })

  for (const {name, found, says} of FAILURES) {
    it(`is bad if ${name}`, () => {
      const [failure = '', ...others] = failuresOf({...CALM, ...found})
      assert.match(failure, says)
      assert.deepEqual(others, [])
    })
  }
})
