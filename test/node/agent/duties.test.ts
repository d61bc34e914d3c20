import assert from 'node:assert/strict'
import {TrustError} from '../../../src/errors.ts'
import {attendAll, attendOnce, type Duty} from '../../../src/node/agent/duties.ts'

describe('the duties of an agent', () => {
  let now: number
  let stop: AbortController
  let lines: string[]
  beforeEach(() => {
    now = 1000
    stop = new AbortController()
    lines = []
  })
  const clock = {now: () => new Date(now)}
  const log = (line: string) => void lines.push(line)
  const duty = (name: string, at: number | undefined, work: Duty['work']): Duty => ({
    name,
    nextAt: () => (at === undefined ? undefined : new Date(at)),
    work,
  })
  const attend = (...duties: Duty[]) => attendAll(duties, {clock, log, tick: 1}, stop.signal)

  it('are done when they are due, and not before', async () => {
    const done: string[] = []
    const note = (name: string) => () => Promise.resolve(void done.push(name))
    await attendOnce(
      [duty('past', 999, note('past')), duty('future', 1001, note('future'))],
      clock,
      stop.signal,
    )
    assert.deepEqual([...new Set(done)], ['past'])
  })

  it('wait for each other only when they are done once', async () => {
    let isDone = false
    await attend(
      duty(
        'slow',
        0,
        (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      ),
      duty('quick', 0, () => {
        isDone = true
        stop.abort()
        return Promise.resolve()
      }),
    )
    assert.equal(isDone, true)
  })

  it('report each failure once, until its reason changes, and when it is over', async () => {
    const outcomes = [
      new TrustError('SERVER_UNREACHABLE', 'away'),
      new TrustError('SERVER_UNREACHABLE', 'still away'),
      new TrustError('UNAUTHORIZED', 'unknown', {hints: ['look']}),
      undefined,
      undefined,
    ]
    await attend(
      duty('asking', 0, () => {
        const [outcome] = outcomes.splice(0, 1)
        if (outcomes.length === 0) stop.abort()
        return outcome ? Promise.reject(outcome) : Promise.resolve()
      }),
    )
    assert.deepEqual(lines, [
      'error: asking: away',
      'error: asking: unknown',
      '  look',
      'asking works again',
    ])
  })

  it('do not work again by finding nothing to do', async () => {
    const asked = [true, false, false]
    const onRequest: Duty = {
      ...duty('on request', 0, () => Promise.reject(new Error('refused'))),
      isDue: () => {
        const [isDue = false] = asked.splice(0, 1)
        if (asked.length === 0) stop.abort()
        return Promise.resolve(isDue)
      },
    }
    await attend(onRequest)
    assert.deepEqual(lines, ['error: on request: refused'])
    await attendOnce([onRequest], clock, new AbortController().signal)
  })

  it('go on if one cannot say when it is due', async () => {
    const broken: Duty = {
      name: 'broken',
      nextAt: () => {
        throw new Error('no time')
      },
      work: () => Promise.resolve(),
    }
    let times = 0
    const sound = duty('sound', 0, () => {
      times += 1
      if (times === 3) stop.abort()
      return Promise.resolve()
    })
    await attend(broken, sound)
    assert.equal(times, 3)
    assert.deepEqual(lines, ['error: broken: no time'])
    times = 0
    await assert.rejects(
      attendOnce([broken, sound], clock, new AbortController().signal),
      /no time/,
    )
    assert.equal(times, 2)
  })

  it('done once, all are tried, and the first failure is thrown', async () => {
    const done: string[] = []
    const first = new Error('first')
    const duties = [
      duty('one', 0, () => Promise.reject(first)),
      duty('two', 0, () => Promise.resolve(void done.push('two'))),
      duty('three', 0, () => Promise.reject(new Error('second'))),
    ]
    await assert.rejects(attendOnce(duties, clock, stop.signal), first)
    assert.ok(done.includes('two'))
  })
})
