import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {stepsOf} from '../../../src/control-plane/ca-rotation/advance.ts'
import {
  readJournal,
  writeJournal,
  type Journal,
} from '../../../src/control-plane/ca-rotation/journal.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer} from './support.ts'

const unit = (id: string) => ({id, old: {pin: 'a', keyId: 'aa'}, new: {pin: 'b', keyId: 'bb'}})

/** A start of which only the wait for nodes is left. */
const WAITING: Journal = {
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-03-01T00:00:00.000Z',
  units: [unit('ca')],
  done: stepsOf({action: 'start'})
    .filter(({work}) => work.kind !== 'dependents')
    .map(({id}) => id),
  overrides: [],
}
const COMPLETING: Journal = {
  ...WAITING,
  action: 'complete',
  phase: 'Finalize',
  running: 'renew-servers',
  done: ['sign-servers'],
}

describe('a rotation while another command changes its journal', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
    await writeJournal(fixture.context.plane, WAITING)
  })
  afterEach(() => fixture.remove())

  /** Waits for nodes; each time it looks at them, something else happens as well. */
  const start = (names: string[], meanwhile: () => Promise<void>) => {
    const none = {dropped: 0, forgotten: [], clients: []}
    const client = {
      nodes: {
        list: async () => {
          await meanwhile()
          return {items: names.map((name) => ({metadata: {name}}))}
        },
      },
      raw: () => Promise.resolve(JSON.stringify({since: '', ...none, tokens: none})),
      configMaps: {find: () => Promise.resolve(undefined)},
      csrs: {list: () => Promise.resolve({items: []})},
      secrets: {
        find: () => Promise.resolve(undefined),
        list: () => Promise.resolve({items: []}),
      },
      close: () => Promise.resolve(),
    } as unknown as ApiClient
    const context = {
      ...contextFor(fixture.context.plane),
      connect: () => Promise.resolve(client),
    }
    return rotate(context, 'start', {wait: true, observer})
  }
  const complete = () => writeJournal(fixture.context.plane, COMPLETING)

  it('stops when its wait ends, and leaves the journal of the other command', async () => {
    await assert.rejects(start([], complete), {code: 'CONFLICT'})
    assert.deepEqual(await readJournal(fixture.context.plane), COMPLETING)
  })

  it('stops while it still waits, and does not go on with the other command', async () => {
    await assert.rejects(start(['silent'], complete), {code: 'CONFLICT'})
    assert.deepEqual(await readJournal(fixture.context.plane), COMPLETING)
  })

  it('goes on from what another run of the same command has done', async () => {
    const done = [...WAITING.done, 'nodes']
    const overrides = [{at: '2026-03-02T00:00:00.000Z', by: 'somebody', ignored: ['two']}]
    const other = {...WAITING, done, overrides}
    const {journal} = await start([], () => writeJournal(fixture.context.plane, other))
    assert.deepEqual(journal, other)
  })
})
