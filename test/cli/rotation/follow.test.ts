import assert from 'node:assert/strict'
import type {RotationEvent} from '../../../src/cli/rotation/events.ts'
import {followRotation, watchRotation} from '../../../src/cli/rotation/follow.ts'
import {createProgress} from '../../../src/cli/progress.ts'
import type {Dependent} from '../../../src/control-plane/ca-rotation/dependent.ts'
import type {RotationReport} from '../../../src/control-plane/ca-rotation/report.ts'
import {systemClock} from '../../../src/runtime.ts'

const clock = {now: () => new Date('2026-01-01T00:00:00Z')}
const time = clock.now().toISOString()

type State = 'done' | 'running' | 'waiting'
const node = (name: string): Dependent => ({kind: 'node', name, reasons: [], todo: ''})

/** A report of a start with two steps. */
const start = (states: [State, State], change: Partial<RotationReport> = {}): RotationReport => ({
  credentials: {
    rotation: {certificateAuthorities: {phase: 'Prepare', lastInitiation: '2026-01-01T00:00:00Z'}},
  },
  action: 'start',
  steps: [
    {id: 'create', summary: 'create', state: states[0], waitingFor: []},
    {id: 'nodes', summary: 'wait', state: states[1], waitingFor: []},
  ],
  authorities: [],
  isReady: false,
  isSettled: false,
  dependents: [],
  stillTrusting: [],
  groups: [],
  advice: [],
  ...change,
})

/** The events of reports that are read one after the other. */
async function follow(...reports: (RotationReport | Error)[]): Promise<RotationEvent[]> {
  const events: RotationEvent[] = []
  const read = () => {
    const next = reports.shift()
    if (next === undefined) throw new Error('it was read too often')
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
  }
  await followRotation({read, emit: (event) => events.push(event), clock, pause: 0})
  assert.deepEqual(reports, [])
  return events
}
const told = (events: RotationEvent[]) =>
  events.map((one) => (one.event === 'step' ? `${one.step} ${one.state}` : one.event))

describe('following a rotation', () => {
  it('tells each change of a step once, who is waited for, and the end', async () => {
    const waiting = {dependents: [node('a'), node('b')], nodes: {done: 1, total: 3}}
    const events = await follow(
      start(['running', 'waiting']),
      start(['running', 'waiting']),
      start(['done', 'running'], waiting),
      start(['done', 'running'], waiting),
      start(['done', 'done'], {isSettled: true, isReady: true, nodes: {done: 3, total: 3}}),
    )
    assert.deepEqual(told(events), [
      'create running',
      'create done',
      'nodes running',
      'waiting',
      'nodes done',
      'finished',
    ])
    assert.deepEqual(events[3], {
      time,
      event: 'waiting',
      action: 'start',
      nodes: {done: 1, total: 3},
      waitingFor: ['a', 'b'],
      remainingSeconds: null,
    })
    assert.deepEqual(events.at(-1), {
      time,
      event: 'finished',
      phase: 'Prepare',
      isReady: true,
      waitingFor: [],
    })
  })

  it('tells the last steps of a completion, whose report has none any more', async () => {
    const before = start(['done', 'running'], {action: 'complete'})
    const {action: _action, ...after} = start(['done', 'done'], {isSettled: true, steps: []})
    assert.deepEqual(told(await follow(before, after)), [
      'create done',
      'nodes running',
      'nodes done',
      'finished',
    ])
  })

  it('ends, though the rotation goes on, when nobody reads any more', async () => {
    const reader = new AbortController()
    const read = () => Promise.resolve(start(['running', 'waiting']))
    const emit = () => reader.abort()
    const last = await followRotation({read, emit, clock, pause: 0, signal: reader.signal})
    assert.equal(last?.isSettled, false)
  })

  it('ends at once if nothing is under way', async () => {
    const {action: _action, ...none} = start(['done', 'done'], {isSettled: true, steps: []})
    assert.deepEqual(told(await follow(none)), ['finished'])
  })

  it('goes on when a server restarts, but not if nothing could ever be read', async () => {
    const lost = new Error('the server is away')
    const end = start(['done', 'done'], {isSettled: true})
    assert.equal((await follow(start(['running', 'waiting']), lost, lost, end)).length, 4)
    await assert.rejects(follow(lost), lost)
  })

  it('is refused with formats that have no lines', async () => {
    const progress = createProgress({quiet: true, verbose: false})
    const read = () => Promise.reject(new Error('it was read'))
    await assert.rejects(watchRotation(read, progress, 'yaml', systemClock), {code: 'USAGE'})
  })
})
