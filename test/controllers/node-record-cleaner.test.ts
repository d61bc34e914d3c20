import assert from 'node:assert/strict'
import type {ConfigMap} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {
  emptyRecord,
  recordIssued,
  recordKey,
  withReservation,
} from '../../src/controllers/approval/node-record.ts'
import {withGrant} from '../../src/controllers/approval/rejoin-grant.ts'
import {GRACE} from '../../src/controllers/kernel/seen-expired.ts'
import {cleanRecords} from '../../src/controllers/node-record-cleaner.ts'
import type {Clock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('the cleaner of records of node names', () => {
  let server: TestServer
  let admin: ApiClient
  let cleaner: ApiClient
  const start = new Date(Math.floor(Date.now() / 1000) * 1000)
  let now = start
  const clock: Clock = {now: () => now}
  before(async () => {
    server = await startTestServer({controllers: false, clock})
    admin = server.clientAs(ADMIN)
    const username = 'system:serviceaccount:kube-system:node-record-cleaner'
    cleaner = server.clientAs({username, groups: ['system:authenticated']})
  })
  after(() => server.stop())
  beforeEach(() => {
    now = start
  })

  const issued = (record: ConfigMap, days: number): ConfigMap => {
    const identity = {pin: 'sha256:a', notBefore: start, notAfter: new Date(+start + days * DAY)}
    return recordIssued(record, identity, start) ?? assert.fail()
  }
  let ticks = 0
  const pass = async (reconcile: ReturnType<typeof cleanRecords>, node: string) => {
    const result = await reconcile('all', new AbortController().signal)
    assert.deepEqual(result, {requeueAfter: HOUR})
    return (await admin.configMaps.find(recordKey(node))) !== undefined
  }
  /** Looks at this time, and once more when the grace is over. */
  const isLeft = async (node: string, after: number, writer = cleaner) => {
    now = new Date(+start + after)
    const reconcile = cleanRecords(admin, writer, clock, () => ticks)
    assert.equal(await pass(reconcile, node), true)
    ticks += GRACE
    return await pass(reconcile, node)
  }

  it('removes the record of a name whose certificate has expired and that has no Node', async () => {
    await admin.configMaps.create(issued(emptyRecord('expired'), 2))
    assert.equal(await isLeft('expired', 2 * DAY - 1000), true)
    assert.equal(await isLeft('expired', 2 * DAY), false)
  })

  it('keeps it while a Node has the name', async () => {
    await admin.nodes.create({metadata: {name: 'present'}})
    await admin.configMaps.create(issued(emptyRecord('present'), 2))
    assert.equal(await isLeft('present', 9 * DAY), true)
    await admin.nodes.delete('present')
    assert.equal(await isLeft('present', 9 * DAY), false)
  })

  it('keeps a name that is kept for a key, or that an operator has granted', async () => {
    await admin.configMaps.create(
      withReservation(emptyRecord('reserved'), {pin: 'sha256:b', requester: 'ann'}, start),
    )
    const until = new Date(+start + 30 * HOUR)
    const grant = {until, to: {pin: 'sha256:c'}}
    await admin.configMaps.create(withGrant(emptyRecord('granted'), grant))
    assert.equal(await isLeft('reserved', 24 * HOUR), true)
    assert.equal(await isLeft('reserved', 26 * HOUR), false)
    assert.equal(await isLeft('granted', 29 * HOUR), true)
    assert.equal(await isLeft('granted', 31 * HOUR), false)
  })

  it('keeps it when the clock jumps ahead for less than a good day', async () => {
    await admin.configMaps.create(issued(emptyRecord('jumped'), 2))
    const reconcile = cleanRecords(admin, cleaner, clock, () => ticks)
    const lookFor = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        ticks += HOUR
        assert.equal(await pass(reconcile, 'jumped'), true)
      }
    }
    now = new Date(+start + 4000 * DAY)
    await lookFor(26)
    now = start
    await lookFor(1)
    now = new Date(+start + 4000 * DAY)
    await lookFor(26)
    ticks += HOUR
    assert.equal(await pass(reconcile, 'jumped'), false)
  })

  it('keeps it when somebody has held the name between two passes', async () => {
    await admin.configMaps.create(issued(emptyRecord('again'), 2))
    now = new Date(+start + 9 * DAY)
    const reconcile = cleanRecords(admin, cleaner, clock, () => ticks)
    assert.equal(await pass(reconcile, 'again'), true)
    const held = await admin.configMaps.get(recordKey('again'))
    await admin.configMaps.update(issued(held, 3))
    ticks += GRACE
    assert.equal(await pass(reconcile, 'again'), true)
    ticks += GRACE
    assert.equal(await pass(reconcile, 'again'), false)
  })

  it('leaves a record alone that was changed after it was seen, and every other ConfigMap', async () => {
    const record = await admin.configMaps.create(issued(emptyRecord('raced'), 2))
    await admin.configMaps.create({metadata: {namespace: 'trustadm-system', name: 'other'}})
    const nodes: ApiClient['nodes'] = Object.create(admin.nodes, {
      find: {
        value: async () => {
          await admin.configMaps.update({...record, data: {...record.data, holder: 'sha256:d'}})
          return undefined
        },
      },
    }) as ApiClient['nodes']
    assert.equal(await isLeft('raced', 9 * DAY, {...cleaner, nodes}), true)
    assert.ok(await admin.configMaps.find({namespace: 'trustadm-system', name: 'other'}))
  })
})
