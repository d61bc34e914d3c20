import assert from 'node:assert/strict'
import {checkListing, checkRegister} from '../../soak/linearizability/check-register.ts'
import {
  checkWatches,
  timelinesOf,
  type SeenEvent,
} from '../../soak/linearizability/check-watches.ts'
import type {Operation, State, Write} from '../../soak/linearizability/history.ts'

const TIMELINE: State[] = [
  {revision: 10, value: 'a'},
  {revision: 20, value: 'b'},
  {revision: 30},
  {revision: 40, value: 'c'},
]

const write = (start: number, end: number, base: number, value?: string): Write => ({
  kind: 'write',
  key: 'k',
  start,
  end,
  base,
  value,
  outcome: 'acknowledged',
})
const WRITES: Write[] = [
  write(0, 1, 0, 'a'),
  write(2, 3, 10, 'b'),
  write(4, 5, 20),
  write(6, 7, 0, 'c'),
]
const read = (start: number, end: number, revision = 0, value = ''): Operation => ({
  kind: 'read',
  key: 'k',
  start,
  end,
  state: revision === 0 ? undefined : {revision, value},
})
const check = (...operations: Operation[]) => checkRegister('k', operations, TIMELINE)
const finds = (faults: string[], fault: RegExp) => assert.match(faults.join('\n'), fault)

describe('the check of a history for one key', () => {
  it('accepts what is in order, also side by side', () => {
    assert.deepEqual(check(...WRITES), [])
    assert.deepEqual(check(...WRITES, read(2, 3, 10, 'a'), read(2.5, 9, 40, 'c')), [])
    assert.deepEqual(check(...WRITES, read(-2, -1), read(4, 4.5, 20, 'b'), read(5.5, 5.6)), [])
  })

  it('finds a stale read', () => {
    finds(check(...WRITES, read(3.5, 3.6, 10, 'a')), /a read got a at 10 after b at 20 was seen/)
    finds(
      check(...WRITES, read(1.5, 1.6)),
      /a write \(acknowledged\) got b at 20 after a deletion at 30 was seen/,
    )
    finds(check(...WRITES, read(8, 9)), /saw nothing after c at 40 was seen/)
  })

  it('finds a read that goes back behind another one', () => {
    finds(
      check(...WRITES, read(2.1, 2.2, 20, 'b'), read(2.3, 2.4, 10, 'a')),
      /a read got a at 10 after b at 20/,
    )
  })

  it('finds what was seen before it was written, and what was never there', () => {
    finds(
      check(...WRITES, read(1.2, 1.3, 20, 'b')),
      /a write \(acknowledged\) got b at 20 after b at 20 was seen/,
    )
    finds(check(...WRITES, read(8, 9, 41, 'x')), /x at 41, which was never there/)
  })

  it('finds lost, repeated and denied writes', () => {
    finds(check(...WRITES, write(8, 9, 40, 'd')), /the acknowledged write of d after 40 is lost/)
    finds(check(...WRITES, write(8, 9, 40)), /the acknowledged write of nothing after 40 is lost/)
    const [first, second, third, fourth] = WRITES as [Write, Write, Write, Write]
    finds(check(first, {...second, base: 0}, third, fourth), /has overwritten another/)
    finds(check(first, {...second, outcome: 'refused'}, third, fourth), /was refused, and done/)
    finds(check(first, second, {...third, outcome: 'refused'}, fourth), /nobody has written a del/)
  })

  it('accepts both outcomes of a write whose answer never came', () => {
    const [first, second, third, fourth] = WRITES as [Write, Write, Write, Write]
    const unknown = {...second, outcome: 'unknown', end: Infinity} as const
    assert.deepEqual(check(first, unknown, third, fourth), [])
    assert.deepEqual(check(...WRITES, {...unknown, value: 'z', start: 8}), [])
  })

  it('does not take a deletion without an answer for that of another client', () => {
    const [first, second, third, fourth] = WRITES as [Write, Write, Write, Write]
    const unknown = {...third, outcome: 'unknown', start: 5.5, end: Infinity} as const
    assert.deepEqual(check(...WRITES, unknown), [])
    assert.deepEqual(
      check(first, second, unknown, {...unknown, start: 4}, fourth, read(5, 5.2)),
      [],
    )
    finds(check(...WRITES, {...third, start: 4.2}), /the deletion of 20 was acknowledged twice/)
  })

  it('finds a list that mixes revisions', () => {
    const timelines = new Map([['k', TIMELINE]])
    const listing = {start: 0, end: 1, revision: 35, states: new Map()}
    assert.deepEqual(checkListing(listing, timelines), [])
    const stale = new Map([['k', {revision: 20, value: 'b'}]])
    finds(checkListing({...listing, states: stale}, timelines), /a list at 35 has b at 20/)
    finds(checkListing({...listing, revision: 45}, timelines), /has nothing of k, not c at 40/)
  })
})

describe('the check of watches', () => {
  const event = (revision: number, type: SeenEvent['type'], value?: string): SeenEvent => ({
    revision,
    key: 'k',
    type,
    value,
  })
  const ALL = [event(10, 'ADDED', 'a'), event(20, 'MODIFIED', 'b'), event(30, 'DELETED', 'b')]
  const segment = (watcher: string, events: SeenEvent[], from = 5, to = 30) => ({
    watcher,
    from,
    to,
    events,
  })
  const faultsOf = (...segments: Parameters<typeof checkWatches>[0]) =>
    checkWatches(segments).faults

  it('accepts watchers that see the same, from wherever they are', () => {
    assert.deepEqual(faultsOf(segment('one', ALL), segment('two', ALL.slice(1), 10)), [])
    assert.deepEqual(
      timelinesOf(ALL, ['k'])
        .get('k')
        ?.map(({value}) => value),
      ['a', 'b', undefined],
    )
  })

  it('finds a gap, a repetition, a contradiction and a wrong order', () => {
    const [a, b, c] = ALL as [SeenEvent, SeenEvent, SeenEvent]
    finds(faultsOf(segment('one', ALL), segment('two', [a, c])), /two saw everything .* but 20/)
    finds(faultsOf(segment('one', [a, b, b, c])), /one saw 20 .* after 20/)
    finds(faultsOf(segment('one', [b, a, c])), /one saw 10 .* after 20/)
    finds(faultsOf(segment('one', ALL), segment('two', [a, {...b, value: 'x'}, c])), /another one/)
    finds(faultsOf(segment('one', ALL, 5, 25)), /all is seen up to 25, and saw 30/)
    finds(faultsOf(segment('one', [a, {...b, type: 'ADDED'}, c])), /does not follow/)
  })
})
