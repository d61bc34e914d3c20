import assert from 'node:assert/strict'
import {EventLog, ObjectEvent} from '../../../src/server/registry/event-log.ts'
import {StoredObject} from '../../../src/server/registry/stored-object.ts'
import {WindowBudget} from '../../../src/server/registry/window-budget.ts'
import {configMaps} from '../../../src/server/resources/configmaps.ts'

const object = (bytes: number) => new StoredObject(configMaps, 'a/b', 1, 'x'.repeat(bytes))
const event = (revision: number, bytes?: number) =>
  new ObjectEvent(revision, bytes === undefined ? undefined : object(bytes))
const newLog = (since: number, window: number, budget = new WindowBudget(1e6)) => {
  const log = new EventLog(window, budget)
  log.startAfter(since)
  return log
}
const revisions = (events: ObjectEvent[] | undefined) => events?.map(({revision}) => revision)

describe('EventLog', () => {
  it('finds the first change after a revision, also where no change has that revision', () => {
    const log = newLog(10, 100)
    log.append([event(12), event(15)])
    assert.deepEqual(
      [10, 11, 12, 14, 15, 99].map((revision) => log.positionAfter(revision)),
      [0, 0, 1, 1, 2, 2],
    )
    assert.equal(log.positionAfter(9), undefined)
  })

  it('keeps the newest changes, and says of older ones that they are gone', () => {
    const log = newLog(0, 10)
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
    const log = newLog(0, 10)
    const woken: string[] = []
    log.onNext(() => woken.push('one'))
    const forget = log.onNext(() => woken.push('other'))
    forget()
    log.append([event(1)])
    log.append([event(2)])
    assert.deepEqual(woken, ['one'])
  })

  it('wakes whoever waits for a name by changes of that name alone, and says where those begin', () => {
    const log = newLog(0, 10)
    const woken: string[] = []
    const leaves = ['b', 'c'].map((name) => log.onNext(() => woken.push(name), name))
    log.append([event(1, 1), event(2, 1)])
    assert.deepEqual(woken, ['b'])
    log.append([event(3, 1)])
    assert.deepEqual(
      leaves.map((leave) => leave()),
      [0, 3],
    )
    log.append([event(4, 1)])
    assert.deepEqual(woken, ['b'])
  })

  it('wakes everybody when it starts again: what they have read up to is gone', () => {
    const log = newLog(0, 10)
    const leaves = [undefined, 'b'].map((name) => log.onNext(() => undefined, name))
    log.startAfter(7)
    assert.deepEqual(
      leaves.map((leave) => log.from(leave(), 1)),
      [undefined, undefined],
    )
  })

  it('keeps no more bytes than all logs share, and the log with the most bytes gives way', () => {
    const budget = new WindowBudget(1000)
    const [large, small] = [newLog(0, 4096, budget), newLog(0, 4096, budget)]
    small.append([event(1, 10), event(2, 10)])
    for (let revision = 3; revision <= 100; revision++) large.append([event(revision, 90)])
    assert.ok(large.bytes + small.bytes <= 1000, `${large.bytes}`)
    assert.ok(large.since > 80 && large.since < 100, `since ${large.since}`)
    assert.deepEqual([small.since, small.bytes], [0, 20])
    assert.equal(large.positionAfter(99), large.end - 1)
  })

  it('counts both states of a change and the texts that are made for watchers', () => {
    const log = newLog(0, 4096, new WindowBudget(1000))
    const update = new ObjectEvent(1, object(100), object(200))
    log.append([update])
    assert.equal(log.bytes, 300)
    const make = () => 'x'.repeat(150)
    for (let count = 0; count < 3; count++) update.frame('one', make)
    assert.equal(log.bytes, 450)
    for (const form of ['two', 'three', 'four', 'five']) update.frame(form, make)
    assert.deepEqual([log.bytes, log.since], [0, 1])
  })
})
