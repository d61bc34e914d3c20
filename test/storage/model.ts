import assert from 'node:assert/strict'
import fc from 'fast-check'
import {hasCode} from '../../src/errors.ts'
import type {Entry, PastEvent} from '../../src/storage/storage.ts'
import type {VersionedStorage} from '../../src/storage/versioned-storage.ts'
import {changesSince, Recorder} from './conformance-support.ts'

/** The store in the plainest form: the list of everything that ever happened. */
class Model {
  readonly events: PastEvent[] = []
  compacted = 0

  get revision(): number {
    return 1 + this.events.length
  }

  at(revision: number): Map<string, Entry> {
    const state = new Map<string, Entry>()
    for (const event of this.events) {
      if (event.revision > revision) break
      if (event.entry) state.set(event.key, event.entry)
      else state.delete(event.key)
    }
    return state
  }

  range(revision: number, after: string, limit: number) {
    const keys = [...this.at(revision).values()]
      .filter(({key}) => key > after)
      .sort((left, right) => (left.key < right.key ? -1 : 1))
    return {
      entries: keys.slice(0, limit),
      remaining: Math.max(0, keys.length - limit),
      revision,
    }
  }

  write(type: string, key: string, value: Uint8Array, expected: number): string | PastEvent {
    const previous = this.at(this.revision).get(key)
    const revision = this.revision + 1
    const push = (event: PastEvent) => {
      this.events.push(event)
      return event
    }
    if (type === 'create') {
      if (previous) return 'ALREADY_EXISTS'
      return push({type: 'put', key, revision, entry: {key, value, revision, created: revision}})
    }
    if (!previous) return 'NOT_FOUND'
    if (previous.revision !== expected) return 'CONFLICT'
    if (type === 'delete') return push({type: 'delete', key, revision, previous})
    const entry = {key, value, revision, created: previous.created}
    return push({type: 'put', key, revision, entry, previous})
  }
}

const key = fc.constantFrom('/a', '/b', '/b/1', '/c', '/é', '/z')
const back = fc.nat({max: 6})

const write = fc.record({
  do: fc.constantFrom('create' as const, 'update' as const, 'update' as const, 'delete' as const),
  key,
  value: fc.uint8Array({maxLength: 12}),
  stale: fc.boolean(),
})

const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      writes: fc.array(write, {minLength: 1, maxLength: 5}),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      back,
      after: key,
      limit: fc.nat({max: 4}),
    }),
  },
  {weight: 2, arbitrary: fc.record({do: fc.constant('watch' as const), back})},
  {weight: 1, arbitrary: fc.record({do: fc.constant('compact' as const), back})},
)

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never
type WriteCommand = typeof write extends fc.Arbitrary<infer T> ? T : never

/** Sends the writes at once and expects them to be decided in order. */
async function writeAll(
  storage: VersionedStorage,
  model: Model,
  writes: WriteCommand[],
): Promise<void> {
  const expectations: (string | PastEvent)[] = []
  const sent: Promise<unknown>[] = []
  for (const {do: type, key, value, stale} of writes) {
    const current = model.at(model.revision).get(key)?.revision ?? 1
    const expected = stale ? current - 1 : current
    expectations.push(model.write(type, key, value, expected))
    if (type === 'create') sent.push(storage.create(key, value))
    else if (type === 'update') sent.push(storage.update(key, value, expected))
    else sent.push(storage.delete(key, expected))
  }
  const results = await Promise.allSettled(sent)
  results.forEach((result, index) => {
    const expectation = expectations[index]
    if (typeof expectation === 'string') {
      assert.ok(result.status === 'rejected' && hasCode(result.reason, expectation as 'CONFLICT'))
      return
    }
    assert.equal(result.status, 'fulfilled')
    const {entry, revision} = expectation!
    assert.deepEqual(result.status === 'fulfilled' && result.value, entry ?? {revision})
  })
  assert.equal(await storage.revision(), model.revision)
}

async function runOne(storage: VersionedStorage, model: Model, command: Command): Promise<void> {
  if (command.do === 'write') {
    await writeAll(storage, model, command.writes)
    return
  }
  const revision = Math.max(1, model.revision - command.back)
  if (command.do === 'compact') {
    await storage.compact(revision)
    model.compacted = Math.max(model.compacted, revision)
  } else if (command.do === 'list') {
    const list = storage.list('/', {revision, after: command.after, limit: command.limit})
    if (revision < model.compacted) await assert.rejects(list, {code: 'STORE_COMPACTED'})
    else assert.deepEqual(await list, model.range(revision, command.after, command.limit))
  } else {
    const events = changesSince(storage, '', revision)
    if (revision < model.compacted) await assert.rejects(events, {code: 'STORE_COMPACTED'})
    else
      assert.deepEqual(
        await events,
        model.events.filter((event) => event.revision > revision),
      )
  }
}

export const checkAgainstModel = {
  commands: fc.array(command, {maxLength: 40}),
  async run(storage: VersionedStorage, commands: Command[]): Promise<void> {
    const model = new Model()
    const recorder = new Recorder()
    storage.subscribe('', await storage.revision(), recorder)
    for (const next of commands) await runOne(storage, model, next)
    assert.deepEqual(
      recorder.events,
      model.events.map(({previous: _, ...event}) => event),
    )
    const {entries} = await storage.list('')
    assert.deepEqual(entries, model.range(model.revision, '', Infinity).entries)
  },
}
