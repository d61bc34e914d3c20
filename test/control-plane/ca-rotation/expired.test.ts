import assert from 'node:assert/strict'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../../src/client/connect.ts'
import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {serve, type RunningPlane} from '../../../src/control-plane/serve.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const DAY = 86_400_000

describe('rotating a CA that has expired', () => {
  let fixture: PlaneFixture
  let running: RunningPlane
  const silent = () => undefined
  const observer = {begin: silent, end: silent, waiting: silent}

  before(async () => {
    fixture = await planeFixture()
    const {plane} = fixture.context
    const pki = (name: string) => join(fixture.dir, 'pki', name)
    const keys = await generateKeys()
    const now = systemClock.now().getTime()
    const validity = {notBefore: new Date(now - 10 * DAY), notAfter: new Date(now - DAY)}
    await mkdir(join(fixture.dir, 'pki'), {mode: 0o700})
    await writeFile(
      pki('ca.crt'),
      await createAuthorityCertificate({commonName: 'kubernetes'}, keys, validity),
    )
    await writeFile(pki('ca.key'), privateKeyPem(keys.privateKey), {mode: 0o600})
    fixture.context.clock = {now: () => new Date(now - 3 * DAY)}
    await fixture.run('certs', 'kubeconfig')
    await savePlane(plane)
    running = await serve(plane, {clock: systemClock, log: silent})
  })
  after(async () => {
    process.emit('SIGTERM')
    await running.ended
    await fixture.remove()
  })

  it('works, and the server can be used again at once', async () => {
    const {plane} = fixture.context
    const warnings: string[] = []
    const context = {
      plane,
      clock: systemClock,
      tell: silent,
      warn: (line: string) => warnings.push(line),
      connect: connectAsAdmin,
    }
    const started = await rotate(context, 'start', {wait: false, observer})
    assert.deepEqual([started.journal.isExpired, started.journal.phase], [true, 'Prepare'])
    const client = await connect(join(fixture.dir, 'super-admin.conf'))
    assert.ok((await client.namespaces.list()).items.length > 0)
    await client.close()
    const completed = await rotate({...context, force: true}, 'complete', {wait: false, observer})
    assert.equal(completed.journal.phase, 'Completed')
  })
})
