import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {
  emptyRecord,
  recordIssued,
  withNewestInUse,
} from '../../src/controllers/approval/node-record.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {GRACE} from '../../src/controllers/kernel/seen-expired.ts'
import type {Reconcile} from '../../src/controllers/kernel/work-queue.ts'
import {
  cleanRevocations,
  revocationCleanerController,
} from '../../src/controllers/revocation-cleaner.ts'
import {keyRevocation, serialRevocation, userRevocation} from '../../src/trust/revocations.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const LIST = {namespace: 'kube-system', name: 'trustadm-revoked-certificates'}
const PINS = ['a', 'b', 'c', 'd'].map((letter) => `sha256:${letter.repeat(64)}`)

describe('the cleaner of the list of revoked certificates', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController | undefined
  let now: Date
  let ticks: number
  let reconcile: Reconcile
  const errors: string[] = []
  const start = new Date(Math.floor(Date.now() / 1000) * 1000)
  const after = (days: number) => new Date(+start + days * DAY)
  const details = (days: number) => JSON.stringify({expires: after(days).toISOString()})
  const [expired = '', valid = '', held = '', odd = ''] = PINS.map(keyRevocation)
  const idsIn = async () => Object.keys((await admin.configMaps.get(LIST)).data ?? {}).sort()

  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    now = start
    ticks = 0
    const lists = {find: () => admin.configMaps.find(LIST)}
    reconcile = cleanRevocations(lists, admin, cleaner(), {now: () => now}, () => ticks)
  })
  afterEach(async () => {
    await running?.close()
    running = undefined
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })
  const cleaner = () =>
    server.clientAs({
      username: 'system:serviceaccount:kube-system:revocation-cleaner',
      groups: ['system:serviceaccounts'],
    })
  /** Both clocks advance, and the cleaner looks. */
  async function look(milliseconds: number) {
    now = new Date(+now + milliseconds)
    ticks += milliseconds
    return await reconcile('', new AbortController().signal)
  }
  const setList = (data: Record<string, string>) =>
    admin.configMaps.patch(LIST, {data}, {type: 'merge'})
  async function eventsOn() {
    const {items} = await admin.events.list({
      namespace: LIST.namespace,
      fieldSelector: `involvedObject.name=${LIST.name},reason=RevocationUnreadable`,
    })
    return items.map(({message}) => message).sort()
  }

  it('removes entries whose certificates have been expired for a good day, and no others', async () => {
    const serial = serialRevocation('1f', 'CN=kubernetes')
    await setList({[expired]: details(-2), [serial]: details(-2), [valid]: details(3), [odd]: '{}'})
    await look(0)
    await setList({[held]: details(1)})
    await look(GRACE - 1)
    assert.equal((await idsIn()).length, 5)
    await look(1)
    assert.deepEqual(await idsIn(), [valid, odd, held].sort())
  })

  it('keeps what revokes everything of a node while the record of its name is from that time', async () => {
    const issued = {pin: PINS[0] ?? '', notBefore: after(-5), notAfter: after(-2)}
    for (const node of ['old', 'new']) {
      const notBefore = node === 'old' ? after(-5) : after(-3)
      const record = recordIssued(emptyRecord(node), {...issued, notBefore}, notBefore)
      await admin.configMaps.create(record ?? assert.fail())
    }
    const id = (node: string) => userRevocation(`system:node:${node}`, after(-4))
    await setList({[id('old')]: details(-2), [id('new')]: details(-2), [id('none')]: details(-2)})
    await look(0)
    await look(GRACE)
    assert.deepEqual(await idsIn(), [id('old')])
  })

  it('looks again when an entry expires, and every hour from then on', async () => {
    await setList({[valid]: details(1), [odd]: details(3)})
    assert.deepEqual(await look(0), {requeueAfter: DAY})
    assert.deepEqual(await look(DAY), {requeueAfter: HOUR})
    assert.deepEqual(await look(GRACE), {requeueAfter: HOUR})
    assert.deepEqual(await idsIn(), [odd])
  })

  it('keeps everything when the clock jumps ahead for less than a good day', async () => {
    await setList({[valid]: details(1), [held]: details(7)})
    await look(0)
    now = after(4000)
    for (let hours = 0; hours < 25; hours++) await look(HOUR)
    now = start
    await look(HOUR)
    now = after(4000)
    for (let hours = 0; hours < 25; hours++) await look(HOUR)
    assert.deepEqual(await idsIn(), [valid, held].sort())
  })

  it('counts the good day again for an entry whose end was moved', async () => {
    await setList({[expired]: details(-2)})
    await look(0)
    await look(GRACE - 1)
    await setList({[expired]: details(1)})
    await look(1)
    assert.deepEqual(await idsIn(), [expired])
    await look(GRACE)
    assert.deepEqual(await idsIn(), [])
  })

  it("keeps an expired key that still holds a node's name", async () => {
    const issued = {pin: PINS[2] ?? '', notBefore: after(-2), notAfter: after(1)}
    await admin.configMaps.create(recordIssued(emptyRecord('n1'), issued, start) ?? assert.fail())
    await setList({[held]: details(-2), [expired]: details(-2)})
    await look(0)
    await look(GRACE)
    assert.deepEqual(await idsIn(), [held])
  })

  it('keeps what revokes the key that a node had before its newest certificate, until that one was in use', async () => {
    const first = {pin: PINS[2] ?? '', notBefore: after(-2), notAfter: after(1)}
    const renewedWith = {pin: first.pin, credential: undefined}
    const second = {pin: PINS[1] ?? '', notBefore: after(-1), notAfter: after(2), renewedWith}
    const joined = recordIssued(emptyRecord('n1'), first, start) ?? assert.fail()
    const renewed = recordIssued(joined, second, start) ?? assert.fail()
    const made = await admin.configMaps.create(renewed)
    await setList({[held]: details(-2)})
    await look(0)
    await look(GRACE)
    assert.deepEqual(await idsIn(), [held])
    await admin.configMaps.update(withNewestInUse(made) ?? assert.fail())
    await look(HOUR)
    assert.deepEqual(await idsIn(), [])
  })

  it('reports what cannot be read', async () => {
    await setList({[odd]: 'nonsense', 'ca.crt': 'x', [valid]: details(1)})
    const reader = server.clientAs({username: 'system:kube-controller-manager', groups: []})
    running = startController(
      revocationCleanerController(reader, cleaner(), {now: () => now}),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await until(async () => (await eventsOn()).length === 2)
    assert.deepEqual(await eventsOn(), [
      `in force, but never removed, for its details are unreadable: "${odd}"`,
      'revokes nothing, for it names no key or serial number: "ca.crt"',
    ])
    assert.equal((await idsIn()).length, 3)
  })
})
