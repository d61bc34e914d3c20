import assert from 'node:assert/strict'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../../src/client/connect.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {hasCode} from '../../../src/errors.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {sleep, systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

/** How long the CA lives at first. On a busy machine, where `start` takes longer, it is made anew with more. */
const LIFE = 8000

describe('a CA that expires while it is rotated', function () {
  this.timeout(240_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let end: number
  const untilExpired = () => sleep(end + 1000 - systemClock.now().getTime())

  const createPlane = async (life: number) => {
    fixture = await planeFixture()
    const pki = (name: string) => join(fixture.dir, 'pki', name)
    const keys = await generateKeys()
    const now = systemClock.now().getTime()
    end = Math.floor((now + life) / 1000) * 1000
    const validity = {notBefore: new Date(now - 60_000), notAfter: new Date(end)}
    await mkdir(join(fixture.dir, 'pki'), {mode: 0o700})
    const certificate = await createAuthorityCertificate({commonName: 'kubernetes'}, keys, validity)
    await writeFile(pki('ca.crt'), certificate)
    await writeFile(pki('ca.key'), privateKeyPem(keys.privateKey), {mode: 0o600})
    await fixture.run('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
  }

  /** A server whose CA ended in the middle of a step cannot be waited for. */
  const ifTooLate = (error: unknown) => {
    if (!hasCode(error, 'TIMED_OUT') || systemClock.now().getTime() < end) throw error
  }

  /** A rotation that is started, with a CA that ends soon. */
  beforeEach(async () => {
    for (let life = LIFE; ; life *= 2) {
      await createPlane(life)
      const started = await rotate(context(), 'start', {wait: false, observer}).catch(ifTooLate)
      if (started && !started.journal.isExpired) {
        assert.deepEqual([started.journal.phase, started.waiting], ['Prepare', []])
        return await untilExpired()
      }
      await stop()
    }
  })
  afterEach(() => stop())

  const context = () => contextFor(fixture.context.plane)

  it('cannot be gone back to, and is left behind by the start again and a forced completion', async () => {
    const stuck = await reportRotation(context())
    assert.match(stuck.advice.join(), /has expired.*run "trustadm ca rotate start --dir .*" again/)
    assert.deepEqual([stuck.isReady, stuck.isSettled], [false, false])
    await assert.rejects(rotate(context(), 'abort', {wait: false, observer}), {
      code: 'CONFLICT',
      message: /cannot be aborted: the old CA "ca".* has expired/,
    })
    await assert.rejects(rotate({...context(), force: true}, 'complete', {wait: false, observer}), {
      code: 'CONFLICT',
      message: /not all of its steps are done/,
    })

    const again = await rotate(context(), 'start', {wait: false, observer})
    assert.deepEqual([again.journal.isExpired, again.waiting], [true, []])
    const client = await connect(join(fixture.dir, 'super-admin.conf'))
    assert.ok((await client.namespaces.list()).items.length > 0)
    await client.close()
    assert.equal((await reportRotation(context())).isSettled, true)
    const completed = await rotate({...context(), force: true}, 'complete', {wait: false, observer})
    assert.equal(completed.journal.phase, 'Completed')
  })
})
