import assert from 'node:assert/strict'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../../src/client/connect.ts'
import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {readJournal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

const DAY = 86_400_000

describe('rotating a CA that has expired', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  const then = {now: () => new Date(Date.now() - 3 * DAY)}

  /** A control plane with a CA that ended a day ago, and everything that it had signed before. */
  const createPlane = async (name: string, commonName: string) => {
    fixture = await planeFixture()
    const pki = (file: string) => join(fixture.dir, 'pki', file)
    const keys = await generateKeys()
    const now = systemClock.now().getTime()
    const validity = {notBefore: new Date(now - 10 * DAY), notAfter: new Date(now - DAY)}
    await mkdir(join(fixture.dir, 'pki'), {mode: 0o700})
    await writeFile(
      pki(`${name}.crt`),
      await createAuthorityCertificate({commonName}, keys, validity),
    )
    await writeFile(pki(`${name}.key`), privateKeyPem(keys.privateKey), {mode: 0o600})
    fixture.context.clock = then
    await fixture.run('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
  }
  afterEach(() => stop())

  const context = () => contextFor(fixture.context.plane)
  const requireUsable = async () => {
    const client = await connect(join(fixture.dir, 'super-admin.conf'))
    assert.ok((await client.namespaces.list()).items.length > 0)
    await client.close()
  }
  const requireCompleted = async () => {
    const forced = {...context(), force: true}
    const {journal} = await rotate(forced, 'complete', {wait: false, observer})
    assert.equal(journal.phase, 'Completed')
  }

  it('works, and the server can be used again at once', async () => {
    await createPlane('ca', 'kubernetes')
    const {journal} = await rotate(context(), 'start', {wait: false, observer})
    assert.deepEqual([journal.isExpired, journal.phase], [true, 'Prepare'])
    await requireUsable()
    await requireCompleted()
  })

  it('is noticed at once while a server is waited for, and goes on with the new CA', async () => {
    await createPlane('ca', 'kubernetes')
    let looks = 0
    const warnings: string[] = []
    const ended: string[] = []
    const meanwhile = {
      ...context(),
      // It expires after some looks at the servers, of which the first only show the state.
      clock: {now: () => (looks < 8 ? then.now() : systemClock.now())},
      connect: (...args: Parameters<typeof connectAsAdmin>) => {
        looks += 1
        return connectAsAdmin(...args)
      },
      warn: (line: string) => void warnings.push(line),
    }
    const noting = {...observer, end: ({id}: {id: string}) => void ended.push(id)}
    const {journal} = await rotate(meanwhile, 'start', {wait: false, observer: noting})
    assert.deepEqual([journal.isExpired, journal.phase], [true, 'Prepare'])
    assert.ok(warnings.some((line) => line.startsWith('an old CA has expired meanwhile')))
    assert.ok(!ended.includes('servers-trust-both'), ended.join())
    assert.ok(ended.includes('renew-everything'), ended.join())
    await requireUsable()
  })

  it('works if it is the CA of clients, and it expired before they were renewed', async () => {
    await createPlane('client-ca', 'kubernetes-client-ca')
    const interrupted = {
      ...context(),
      clock: then,
      connect: () => Promise.reject(new Error('interrupted')),
    }
    await assert.rejects(rotate(interrupted, 'start', {wait: false, observer}), /interrupted/)
    const {running: step, areClientsExpired} = (await readJournal(fixture.context.plane)) ?? {}
    assert.deepEqual([step, areClientsExpired], ['servers-trust-both', undefined])

    const {advice, isSettled} = await reportRotation(context())
    assert.equal(isSettled, false)
    assert.match(advice.join(), /^The old CA of clients has expired.*run .* again/)
    const {journal} = await rotate(context(), 'start', {wait: false, observer})
    assert.deepEqual(
      [journal.areClientsExpired, journal.isExpired, journal.phase],
      [true, undefined, 'Prepare'],
    )
    await requireUsable()
    await requireCompleted()
  })
})
