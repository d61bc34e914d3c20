import assert from 'node:assert/strict'
import {
  generationOf,
  type Journal,
  numbersAfter,
} from '../../../src/control-plane/ca-rotation/journal.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

const journal = (changes: Partial<Journal>): Journal => ({
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-03-01T00:00:00.000Z',
  units: [],
  done: [],
  overrides: [],
  ...changes,
})
const FIRST = journal({
  units: [
    {id: 'ca', old: {pin: 'a'}, new: {pin: 'b'}},
    {id: 'client-ca', separatedFrom: 'ca', old: {pin: 'a'}, new: {pin: 'c'}},
  ],
})
const numbers = (of: Journal | undefined, id: string, ...pins: string[]) =>
  pins.map((pin, index) => generationOf(of, id, {pin, signs: index === 0}))

describe('the number of a generation of a CA', () => {
  it('is 1 before its first rotation; nothing is known of what is only trusted', () => {
    assert.deepEqual(numbers(undefined, 'ca', 'a', 'x'), [1, undefined])
    assert.deepEqual(numbers(FIRST, 'front-proxy-ca', 'p', 'x'), [1, undefined])
  })

  it('is one more for the new one, from the start on', () => {
    assert.deepEqual(numbers(FIRST, 'ca', 'a', 'b', 'x'), [1, 2, undefined])
  })

  it('is 1 for a CA that exists only since this rotation', () => {
    assert.deepEqual(numbers(FIRST, 'client-ca', 'c', 'a'), [1, undefined])
  })

  it('grows with each rotation that is completed, of the CAs that took part', () => {
    const completed = NOW.toISOString()
    const generations = numbersAfter(FIRST, NOW)
    assert.deepEqual(generations, {
      ca: {pin: 'b', number: 2, completed},
      'client-ca': {pin: 'c', number: 1, completed},
    })
    const second = journal({generations, units: [{id: 'ca', old: {pin: 'b'}, new: {pin: 'd'}}]})
    assert.deepEqual(numbers(second, 'ca', 'b', 'd'), [2, 3])
    assert.deepEqual(numbers(second, 'client-ca', 'c'), [1])
    const after = journal({...second, phase: 'Completed', generations: numbersAfter(second, NOW)})
    assert.deepEqual(numbers(after, 'ca', 'd'), [3])
  })

  it('begins at 1 again for another CA of the same name', () => {
    const generations = {'vpn-ca': {pin: 'v', number: 4}}
    assert.deepEqual(numbers(journal({generations}), 'vpn-ca', 'w'), [1])
  })
})
