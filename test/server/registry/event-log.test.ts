import assert from 'node:assert/strict'
import {EventLog, type ObjectEvent} from '../../../src/server/registry/event-log.ts'

const event = (revision: number): ObjectEvent => ({revision, frames: new Map()})
const revisions = (events: ObjectEvent[] | undefined) => events?.map(({revision}) => revision)

describe('EventLog', () => {
  it('finds the first change after a revision, also where no change has that revision', () => {
    const log = new EventLog(10, 100)
    log.append([event(12), event(15)])
    assert.deepEqual(
      [10, 11, 12, 14, 15, 99].map((revision) => log.positionAfter(revision)),
      [0, 0, 1, 1, 2, 2],
    )
    assert.equal(log.positionAfter(9), undefined)
  })

  it('keeps the newest changes, and says of older ones that they are gone', () => {
    const log = new EventLog(0, 10)
    for (let revision = 1; revision <= 100; revision++) log.append([event(revision)])
    const oldest = log.since + 1
    assert.ok(oldest > 70 && oldest <= 91, `since ${log.since}`)
    assert.equal(log.end, 100)
    assert.deepEqual(revisions(log.from(log.positionAfter(97) ?? -1, 10)), [98, 99, 100])
    assert.deepEqual(revisions(log.from(oldest - 1, 1)), [oldest])
    assert.equal(log.from(oldest - 2, 1), undefined)
    assert.equal(log.positionAfter(log.since - 1), undefined)
  })

  it('wakes everybody once for an append, and nobody who no longer waits', () => {
    const log = new EventLog(0, 10)
    const woken: string[] = []
    log.onNext(() => woken.push('one'))
    const forget = log.onNext(() => woken.push('other'))
    forget()
    log.append([event(1)])
    log.append([event(2)])
    assert.deepEqual(woken, ['one'])
  })
})
