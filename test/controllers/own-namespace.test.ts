import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {findRecord} from '../../src/controllers/approval/record-store.ts'
import {carryOverRecords, untilCarriedOver} from '../../src/controllers/own-namespace.ts'
import {TrustError} from '../../src/errors.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const HEADS = {'trustadm.io/issuance-heads': '[{"size":7}]'}
const LEADER = {namespace: 'kube-system', name: 'trustadm-serve'}

/** As an earlier release wrote it. */
const oldRecord = (node: string, annotations: Record<string, string> = {}) => ({
  metadata: {
    namespace: 'kube-system',
    name: `trustadm-node.${node}`,
    labels: {'trustadm.io/node-certificate': ''},
    annotations: {'trustadm.io/node-name': node, ...annotations},
  },
  spec: {
    holderIdentity: 'sha256:aa',
    acquireTime: '2026-01-01T11:55:00.000000Z',
    renewTime: '2026-01-01T12:00:00.000000Z',
    leaseDurationSeconds: 12 * 3600,
  },
})

describe('records that earlier releases keep in kube-system', () => {
  let server: TestServer
  let admin: ApiClient
  let lines: string[]
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    lines = []
  })
  afterEach(() => server.stop())

  const carryOver = (client = admin) =>
    carryOverRecords(client, {log: (line) => lines.push(line), patience: 0})
  /** The client, with some of its methods for a resource replaced. */
  const replaced = <Name extends 'leases' | 'configMaps' | 'namespaces'>(
    name: Name,
    methods: Partial<ApiClient[Name]>,
  ): ApiClient => ({
    ...admin,
    [name]: new Proxy(admin[name], {
      get: (target, method) =>
        (Reflect.get(methods, method) as unknown) ??
        (Reflect.get(target, method) as () => unknown).bind(target),
    }),
  })

  it('are carried over by the first start, with holders, requesters, grants and reservations', async () => {
    await admin.leases.create(
      oldRecord('one', {
        'trustadm.io/issuer': 'CN=ca',
        'trustadm.io/requester': 'system:bootstrap:abcdef',
        'trustadm.io/reserved-for': 'sha256:bb',
        'trustadm.io/reserved-until': '2026-01-02T13:00:00Z',
        'trustadm.io/rejoin-allowed-until': '2026-01-01T13:00:00Z',
        'trustadm.io/rejoin-allowed-key': 'sha256:cc',
      }),
    )
    await carryOver()
    const {object: _, ...record} = (await findRecord(admin, 'one')) ?? assert.fail()
    assert.deepEqual(record, {
      holder: 'sha256:aa',
      issuedAt: new Date('2026-01-01T11:55:00Z'),
      until: new Date('2026-01-02T00:00:00Z'),
      issuer: 'CN=ca',
      previous: undefined,
      requester: 'system:bootstrap:abcdef',
      givenAt: undefined,
      reserved: {pin: 'sha256:bb', until: new Date('2026-01-02T13:00:00Z')},
      grant: {until: new Date('2026-01-01T13:00:00Z'), to: {pin: 'sha256:cc'}},
    })
    assert.match(lines.join(), /records of node names carried over from kube-system: 1/)
  })

  it('hold their names for ever if their times cannot be read', async () => {
    const {metadata, spec} = oldRecord('odd')
    await admin.leases.create({metadata, spec: {holderIdentity: spec.holderIdentity}})
    await carryOver()
    const {holder, until} = (await findRecord(admin, 'odd')) ?? assert.fail()
    assert.deepEqual([holder, until], ['sha256:aa', undefined])
  })

  it('count for nothing afterwards', async () => {
    await carryOver()
    await admin.leases.create(oldRecord('planted'))
    await carryOver()
    assert.equal(await findRecord(admin, 'planted'), undefined)
  })

  it('count for nothing if they are written while another process carries over', async () => {
    const list: ApiClient['leases']['list'] = async (...call) => {
      await carryOver()
      await admin.leases.create(oldRecord('planted')).catch(() => undefined)
      return await admin.leases.list(...call)
    }
    await carryOver(replaced('leases', {list}))
    assert.equal(await findRecord(admin, 'planted'), undefined)
  })

  it('do not replace what this release has recorded meanwhile', async () => {
    await admin.leases.create(oldRecord('one'))
    const metadata = {namespace: 'trustadm-system', name: 'trustadm-node.one'}
    await admin.configMaps.create({metadata, data: {node: 'one', holder: 'sha256:new'}})
    await carryOver()
    assert.equal((await findRecord(admin, 'one'))?.holder, 'sha256:new')
  })

  it('are read after the leaders of earlier releases were stopped for good', async () => {
    const held = {holderIdentity: 'old', leaseDurationSeconds: 15, leaseTransitions: 3}
    await admin.leases.create({metadata: LEADER, spec: held})
    const update: ApiClient['leases']['update'] = async (...call) => {
      const updated = await admin.leases.update(...call)
      // What the old leader had in flight.
      await admin.leases.create(oldRecord('late'))
      return updated
    }
    await carryOver(replaced('leases', {update}))
    assert.equal((await findRecord(admin, 'late'))?.holder, 'sha256:aa')
    const {spec} = await admin.leases.get(LEADER)
    assert.deepEqual(
      [spec?.holderIdentity, spec?.leaseDurationSeconds],
      ['moved to trustadm-system', 2 ** 31 - 1],
    )
    assert.match(lines.join(), /waiting until controllers of an earlier release have stopped/)
  })

  it('are carried over with the newest lines of issuance logs', async () => {
    await admin.leases.create({metadata: {...LEADER, annotations: HEADS}, spec: {}})
    await carryOver()
    const key = {namespace: 'trustadm-system', name: 'trustadm-serve'}
    const {metadata} = await admin.leases.get(key)
    assert.deepEqual(metadata.annotations, HEADS)
  })

  it('are looked for again after a failure, and nothing is taken for done before', async () => {
    await admin.leases.create(oldRecord('one'))
    let failures = 0
    const create: ApiClient['configMaps']['create'] = async (...call) => {
      failures += 1
      if (failures === 1) throw new TrustError('TIMED_OUT', 'the store is away')
      return await admin.configMaps.create(...call)
    }
    const options = {
      log: (line: string) => lines.push(line),
      signal: new AbortController().signal,
      patience: 0,
      pause: 0,
    }
    await untilCarriedOver(replaced('configMaps', {create}), options)
    assert.match(lines.join('\n'), /the store is away/)
    assert.equal((await findRecord(admin, 'one'))?.holder, 'sha256:aa')
  })

  it('need the namespace, and a cluster that lacks it says how to create it', async () => {
    const forbidden = () => Promise.reject(new TrustError('FORBIDDEN', 'may not'))
    const missing = () => Promise.reject(new TrustError('NOT_FOUND', 'no such namespace'))
    const client = {
      ...replaced('namespaces', {find: forbidden}),
      configMaps: replaced('configMaps', {create: missing}).configMaps,
    }
    await assert.rejects(carryOver(client), /kubectl create namespace trustadm-system/)
  })
})
