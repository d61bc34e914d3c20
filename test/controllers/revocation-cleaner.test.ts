import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {emptyRecord, recordIssued} from '../../src/controllers/approval/node-record.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {revocationCleanerController} from '../../src/controllers/revocation-cleaner.ts'
import {keyRevocation, serialRevocation} from '../../src/trust/revocations.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const LIST = {namespace: 'kube-system', name: 'trustadm-revoked-certificates'}
const PINS = ['a', 'b', 'c', 'd'].map((letter) => `sha256:${letter.repeat(64)}`)

describe('the cleaner of the list of revoked certificates', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController
  const errors: string[] = []
  const after = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY)
  const details = (days: number) => JSON.stringify({expires: after(days).toISOString()})
  const [expired = '', valid = '', held = '', odd = ''] = PINS.map(keyRevocation)
  const idsIn = async () => Object.keys((await admin.configMaps.get(LIST)).data ?? {}).sort()

  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  afterEach(async () => {
    await running.close()
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })
  async function start() {
    running = startController(
      revocationCleanerController(
        server.clientAs({username: 'system:kube-controller-manager', groups: []}),
        server.clientAs({
          username: 'system:serviceaccount:kube-system:revocation-cleaner',
          groups: ['system:serviceaccounts'],
        }),
        {now: () => new Date()},
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
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

  it('removes entries whose certificates expired more than a day ago, and no others', async () => {
    const serial = serialRevocation('1f', 'CN=kubernetes')
    const recent = JSON.stringify({expires: new Date(Date.now() - 25.5 * HOUR).toISOString()})
    await setList({[expired]: details(-2), [serial]: details(-2), [valid]: details(1), [odd]: '{}'})
    await setList({[held]: recent})
    await start()
    await until(async () => !(await idsIn()).includes(expired))
    assert.deepEqual(await idsIn(), [valid, odd, held].sort())
  })

  it('removes an entry when the time has come', async () => {
    await start()
    const expires = new Date(Date.now() + 100 - 26 * HOUR).toISOString()
    await setList({[valid]: JSON.stringify({expires})})
    await until(async () => (await idsIn()).length === 0)
  })

  it("keeps an expired key that still holds a node's name", async () => {
    const now = new Date()
    const issued = {pin: PINS[2] ?? '', notBefore: after(-2), notAfter: after(1)}
    await admin.leases.create(recordIssued(emptyRecord('n1'), issued, now) ?? assert.fail())
    await setList({[held]: details(-2), [expired]: details(-2)})
    await start()
    await until(async () => !(await idsIn()).includes(expired))
    assert.deepEqual(await idsIn(), [held])
  })

  it('reports what cannot be read', async () => {
    await setList({[odd]: 'nonsense', 'ca.crt': 'x', [valid]: details(1)})
    await start()
    await until(async () => (await eventsOn()).length === 2)
    assert.deepEqual(await eventsOn(), [
      `in force, but never removed, for its details are unreadable: "${odd}"`,
      'revokes nothing, for it names no key or serial number: "ca.crt"',
    ])
    assert.equal((await idsIn()).length, 3)
  })
})
