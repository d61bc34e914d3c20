import assert from 'node:assert/strict'
import {
  afterStep,
  beginning,
  begun,
  decide,
  isRotating,
  nextStep,
  requirePrepared,
} from '../../../src/control-plane/ca-rotation/advance.ts'
import {
  foundBy,
  requireNewUsable,
  requireUsable,
  withExpiry,
} from '../../../src/control-plane/ca-rotation/expiry.ts'
import type {Action, Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {STEPS} from '../../../src/control-plane/ca-rotation/steps.ts'
import {TrustError} from '../../../src/errors.ts'

const ACTIONS: readonly Action[] = ['start', 'complete', 'abort']
const OLD_ENDS = '2026-06-01T00:00:00.000Z'
const NEW_ENDS = '2026-09-01T00:00:00.000Z'
/** What can have expired: nothing, the old CAs, the new ones; the old ones as well, or not. */
const WORLDS = {
  'nothing has expired': {now: new Date('2026-03-01T00:00:00Z'), oldEnds: OLD_ENDS},
  'the old CAs have expired': {now: new Date('2026-07-01T00:00:00Z'), oldEnds: OLD_ENDS},
  'the new CAs have expired': {
    now: new Date('2026-10-01T00:00:00Z'),
    oldEnds: '2027-01-01T00:00:00.000Z',
  },
  'all of them have expired': {now: new Date('2026-10-01T00:00:00Z'), oldEnds: OLD_ENDS},
}
type World = (typeof WORLDS)[keyof typeof WORLDS]

const FRESH: Journal = {
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-02-01T00:00:00.000Z',
  units: ['ca', 'client-ca'].map((id) => ({id, old: {pin: ''}, new: {pin: ''}})),
  done: [],
  overrides: [],
}

/** What a command makes of a journal before its first step; undefined if it is refused. */
function commanded(action: Action, stored: Journal | undefined, {now}: World): Journal | undefined {
  try {
    const found = foundBy(action, stored, now)
    const isResumed = decide(action, found).kind === 'resume'
    if (isResumed || !found) {
      if (found?.action === 'abort') requireUsable(found, now)
      return found ?? FRESH
    }
    if (action === 'start') return FRESH
    if (action === 'abort') requireUsable(found, now)
    if (action === 'complete') {
      requirePrepared(found)
      requireNewUsable(found, now)
    }
    return begun(action, found)
  } catch (error) {
    if (error instanceof TrustError) return undefined
    throw error
  }
}

/** The journal once its next step has begun: killed or failed there, it stays so. And once it is done. */
function stepped(stored: Journal, {now, oldEnds}: World): Journal[] {
  const found = withExpiry(stored, now)
  const step = nextStep(found)
  if (!step) return []
  const running = beginning(found, step)
  const units = found.units.map(({id}) => ({
    id,
    old: {pin: `old ${id}`, notAfter: oldEnds},
    new: {pin: `new ${id}`, notAfter: NEW_ENDS},
  }))
  const known = step.work.kind === 'create' ? {...running, units} : running
  return [running, afterStep(known, step, now)]
}

const shown = (journal: Journal): Journal[] =>
  nextStep(journal) === undefined && journal.isShown !== true ? [{...journal, isShown: true}] : []

/** Every journal that can lie on the disk, whenever a command ends early. */
function reachable(from: readonly (Journal | undefined)[], world: World): Journal[] {
  const known = new Map<string, Journal>()
  const open = [...from]
  while (open.length > 0) {
    const one = open.pop()
    const next = [
      ...ACTIONS.map((action) => commanded(action, one, world)),
      ...(one ? [...stepped(one, world), ...shown(one)] : []),
    ]
    for (const journal of next) {
      const key = JSON.stringify(journal)
      if (!journal || known.has(key)) continue
      known.set(key, journal)
      open.push(journal)
    }
  }
  return [...known.values()]
}

/** Whether commands lead to an end, if one of the steps can never be done. */
function canEnd(from: Journal, world: World, impossible?: string): boolean {
  const seen = new Set<string>()
  const open = [from]
  for (let one = open.pop(); one; one = open.pop()) {
    if (!isRotating(one)) return true
    const [, done] =
      nextStep(withExpiry(one, world.now))?.id === impossible ? [] : stepped(one, world)
    for (const next of [done, ...ACTIONS.map((action) => commanded(action, one, world))]) {
      const key = JSON.stringify(next)
      if (!next || seen.has(key)) continue
      seen.add(key)
      open.push(next)
    }
  }
  return false
}

const describeState = ({action, running, done}: Journal) =>
  `${action}, running ${running ?? 'nothing'}, done: ${done.join()}`

describe('every state of a rotation that can be reached', () => {
  const calm = WORLDS['nothing has expired']
  const before = reachable([undefined], calm)

  it('are those of all steps, begun and done', () => {
    for (const [action, steps] of Object.entries(STEPS)) {
      for (const {id, when} of steps) {
        if (when && !when.includes('usable')) continue
        const own = before.filter((one) => one.action === action)
        assert.ok(
          own.some(({running}) => running === id),
          id,
        )
        assert.ok(
          own.some(({done}) => done.includes(id)),
          id,
        )
      }
    }
  })

  for (const [name, world] of Object.entries(WORLDS)) {
    it(`leads to an end if ${name}`, () => {
      // What expired did so at any moment.
      const aged = before.map((one) => ({
        ...one,
        units: one.units.map((unit) => ({
          ...unit,
          old: unit.old.pin === '' ? unit.old : {...unit.old, notAfter: world.oldEnds},
        })),
      }))
      const all = [...aged, ...reachable(aged, world)].filter(isRotating)
      assert.ok(all.length > 50, String(all.length))
      for (const one of all) assert.ok(canEnd(one, world), describeState(one))
    })
  }

  it('leads to an end although a step that needs the new CAs can never be done', () => {
    const {start, complete} = STEPS
    const early = complete.slice(
      0,
      complete.findIndex(({id}) => id === 'distrust-old'),
    )
    for (const {id} of [...start, ...early]) {
      for (const one of before.filter(isRotating)) {
        const isPast = one.action === 'complete' && one.done.includes('distrust-old')
        const isEnding = one.running === 'distrust-old'
        if (!isPast && !isEnding) assert.ok(canEnd(one, calm, id), `${id}: ${describeState(one)}`)
      }
    }
  })

  it('never goes back once the trust in the old CAs may have ended', () => {
    for (const one of before) {
      const mayHaveEnded = one.running === 'distrust-old' || one.done.includes('distrust-old')
      if (!mayHaveEnded || !isRotating(one)) continue
      assert.equal(commanded('abort', one, calm), undefined, describeState(one))
    }
  })
})
