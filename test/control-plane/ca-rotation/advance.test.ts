import assert from 'node:assert/strict'
import {
  afterStep,
  beginning,
  begun,
  decide,
  isFinished,
  isRotating,
  nextStep,
  requirePrepared,
  stepsOf,
} from '../../../src/control-plane/ca-rotation/advance.ts'
import type {Action, Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {STEPS} from '../../../src/control-plane/ca-rotation/steps.ts'
import type {TrustError} from '../../../src/errors.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

const journal = (changes: Partial<Journal> = {}): Journal => ({
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-03-01T11:00:00.000Z',
  units: [],
  done: [],
  overrides: [],
  ...changes,
})

/** Goes through all steps that are left. */
function finished(from: Journal): Journal {
  let current = from
  for (let step = nextStep(current); step; step = nextStep(current)) {
    current = afterStep(beginning(current, step), step, NOW)
  }
  return current
}

const started = finished(journal())

describe('the state machine of a CA rotation', () => {
  it('trusts both CAs before anything is signed by the new one, and ends trust last', () => {
    for (const steps of Object.values(STEPS)) {
      let trusted: readonly string[] = ['old', 'new']
      for (const {work} of steps) {
        if (work.kind !== 'arrange') continue
        assert.ok(trusted.includes(work.clients) && trusted.includes(work.servers))
        assert.ok(work.trusts.includes(work.clients) && work.trusts.includes(work.servers))
        trusted = work.trusts
      }
    }
    const ids = STEPS.start.map(({id}) => id)
    assert.ok(ids.indexOf('trust-both') < ids.indexOf('sign-clients'))
    assert.ok(ids.indexOf('servers-trust-both') < ids.indexOf('sign-clients'))
  })

  it('waits for every server after each change of what signs or is trusted', () => {
    for (const action of ['start', 'complete', 'abort'] as const) {
      const steps = stepsOf({action})
      for (const [index, {work}] of steps.entries()) {
        if (work.kind !== 'arrange') continue
        const rest = steps.slice(index + 1)
        const next = rest.findIndex(
          ({work: later}) => later.kind === 'arrange' || later.kind === 'remove',
        )
        assert.ok(
          rest
            .slice(0, next === -1 ? undefined : next)
            .some(({work: one}) => one.kind === 'servers'),
        )
      }
    }
  })

  it('keeps the serving certificate with the old CA until complete', () => {
    for (const {work} of stepsOf({action: 'start'}))
      if (work.kind === 'arrange') assert.equal(work.servers, 'old')
  })

  it('signs servers with the new CA at once if the old one has expired', () => {
    const arrangements = stepsOf({action: 'start', isExpired: true}).flatMap(({work}) =>
      work.kind === 'arrange' ? [work.servers] : [],
    )
    assert.deepEqual(arrangements, ['new'])
  })

  it('waits for nobody with certificates of clients whose CA has expired', () => {
    const ids = stepsOf({action: 'start', areClientsExpired: true}).map(({id}) => id)
    assert.deepEqual(ids, [
      'create',
      'sign-clients',
      'renew-clients',
      'servers-sign-clients',
      'publish-signers',
      'nodes',
    ])
  })

  it('goes through its steps in order and notes the one that runs', () => {
    const [first, second] = stepsOf(journal())
    assert.ok(first && second)
    const running = beginning(journal(), first)
    assert.equal(running.running, first.id)
    assert.equal(nextStep(running)?.id, first.id)
    const next = afterStep(running, first, NOW)
    assert.equal(next.running, undefined)
    assert.equal(nextStep(next)?.id, second.id)
  })

  it('stays in Prepare when start is finished', () => {
    assert.equal(started.phase, 'Prepare')
    assert.ok(isFinished(started) && isRotating(started))
  })

  it('is Completed, with the time, when complete is finished', () => {
    const done = finished(journal({action: 'complete', phase: 'Finalize'}))
    assert.deepEqual([done.phase, done.lastCompletion], ['Completed', NOW.toISOString()])
    assert.ok(!isRotating(done))
  })

  it('has no phase once it is aborted, so that nobody takes it for a completed one', () => {
    const first = finished(journal({action: 'abort'}))
    assert.deepEqual([first.phase, isRotating(first)], [undefined, false])
    const lastCompletion = '2025-01-01T00:00:00.000Z'
    const second = finished(journal({action: 'abort', lastCompletion}))
    assert.deepEqual(
      [second.phase, second.lastCompletion, second.lastAbort],
      [undefined, lastCompletion, NOW.toISOString()],
    )
  })

  it('of some CAs alone leaves the time at which all were rotated', () => {
    const lastCompletion = '2025-01-01T00:00:00.000Z'
    const partial = finished(
      journal({
        ...{action: 'complete', phase: 'Finalize', isPartial: true, lastCompletion},
        units: [{id: 'front-proxy-ca', old: {pin: 'a'}, new: {pin: 'b'}}],
      }),
    )
    assert.deepEqual([partial.phase, partial.lastCompletion], ['Completed', lastCompletion])
    assert.equal(partial.generations?.['front-proxy-ca']?.completed, NOW.toISOString())
  })

  const half = {...started, done: started.done.slice(0, 3)}
  const decisions: [string, Action, Journal | undefined, string][] = [
    ['start without a rotation', 'start', undefined, 'begin'],
    ['start after one was completed', 'start', finished(journal({action: 'complete'})), 'begin'],
    ['start after one was aborted', 'start', finished(journal({action: 'abort'})), 'begin'],
    ['start again before it has finished', 'start', half, 'resume'],
    ['start that was killed before its end was shown', 'start', started, 'resume'],
    ['complete after start', 'complete', started, 'begin'],
    ['complete again', 'complete', journal({action: 'complete', phase: 'Finalize'}), 'resume'],
    ['abort after start', 'abort', started, 'begin'],
    ['abort of a start that is half done', 'abort', half, 'begin'],
    ['abort again', 'abort', journal({action: 'abort'}), 'resume'],
    [
      'abort of a completion that has only changed who signs',
      'abort',
      journal({action: 'complete', phase: 'Finalize', running: 'servers-present-new'}),
      'begin',
    ],
    [
      'abort that was killed before its end was shown',
      'abort',
      finished(journal({action: 'abort'})),
      'resume',
    ],
  ]
  for (const [name, wanted, found, kind] of decisions) {
    it(`allows ${name}`, () => assert.equal(decide(wanted, found).kind, kind))
  }

  const ending = journal({action: 'complete', phase: 'Finalize', running: 'distrust-old'})
  const refusals: [string, Action, Journal | undefined][] = [
    ['start while one is in progress', 'start', {...started, isShown: true}],
    [
      'start while one is being completed',
      'start',
      journal({action: 'complete', phase: 'Finalize'}),
    ],
    ['complete without start', 'complete', undefined],
    [
      'complete of a completed one',
      'complete',
      finished(journal({action: 'complete', isShown: true})),
    ],
    ['complete while it is aborted', 'complete', journal({action: 'abort'})],
    ['abort without start', 'abort', undefined],
    ['abort once complete begins to end the trust in old CAs', 'abort', ending],
    ['abort once complete has ended it', 'abort', {...ending, done: ['distrust-old']}],
  ]
  for (const [name, wanted, found] of refusals) {
    it(`refuses ${name}`, () => assert.throws(() => decide(wanted, found), {code: 'CONFLICT'}))
  }

  it('advises to begin a rotation only those who want to complete one', () => {
    const suggestions = ['nothing has to be undone; see "trustadm ca rotate status"']
    assert.throws(() => decide('abort', undefined), {suggestions})
    assert.throws(
      () => decide('complete', undefined),
      ({suggestions: [hint]}: TrustError) => hint?.startsWith('begin one with') === true,
    )
  })

  it('only removes new CAs that were never complete when it is aborted', () => {
    assert.equal(nextStep(begun('abort', journal()))?.work.kind, 'remove')
    assert.deepEqual(begun('abort', started).done, [])
    assert.deepEqual(begun('complete', started).done, [])
  })

  it('refuses to complete what is not prepared, but for nodes, which are checked separately', () => {
    assert.throws(() => requirePrepared(half), {code: 'CONFLICT'})
    requirePrepared({...started, done: started.done.filter((id) => id !== 'nodes')})
  })
})
