import assert from 'node:assert/strict'
import {readdir, rm, stat} from 'node:fs/promises'
import {createServer, type AddressInfo} from 'node:net'
import {join} from 'node:path'
import {startEmbedded} from '../../src/control-plane/embedded.ts'
import {INIT_PHASES, initPhases, planInit, runInit} from '../../src/control-plane/init/init.ts'
import {readStatus} from '../../src/control-plane/status.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const observer = {begin: () => undefined, end: () => undefined}

describe('what phases need', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
  })
  afterEach(() => fixture.remove())

  const start = () =>
    startEmbedded(fixture.context.plane, {clock: systemClock, log: () => undefined})

  it('is said before a server is started without certificates', async () => {
    await assert.rejects(fixture.run('control-plane'), {
      code: 'NOT_FOUND',
      message: /no CA "ca"/,
    })
    await assert.rejects(stat(join(fixture.dir, 'logs')), {code: 'ENOENT'})
  })

  for (const phase of ['namespaces', 'rbac'] as const) {
    it(`is a kubeconfig and a server for ${phase}`, async () => {
      await assert.rejects(fixture.run(phase), {code: 'NOT_FOUND', message: /admin\.conf/})
      await fixture.run('certs', 'kubeconfig')
      await assert.rejects(fixture.run(phase), {
        code: 'SERVER_UNREACHABLE',
        suggestions: [`start it with "trustadm start --dir ${fixture.dir}"`],
      })
    })
  }

  it('is every certificate of a CA without its key, all named before anything is written', async () => {
    await fixture.provide('certs', 'kubeconfig')
    for (const file of [
      'pki/ca.key',
      'pki/apiserver.crt',
      'scheduler.conf',
      'pki/front-proxy-ca.key',
    ])
      await rm(join(fixture.dir, file))
    await assert.rejects(fixture.run('preflight'), (error: Error & {code: string}) => {
      assert.equal(error.code, 'SIGNER_KEY_MISSING')
      assert.match(error.message, /"apiserver" in .*apiserver\.crt: it is missing/)
      assert.match(error.message, /"scheduler\.conf"/)
      assert.doesNotMatch(error.message, /"admin\.conf"|front-proxy/)
      return true
    })
  })

  it('is a store that no unknown process uses', async () => {
    await fixture.provide('certs', 'kubeconfig')
    const stray = await start()
    try {
      await assert.rejects(fixture.run('preflight'), {
        code: 'STORE_LOCKED',
        facts: {pid: process.pid},
      })
      const {server} = await readStatus(fixture.context.plane, systemClock)
      assert.equal(server.running, false)
      assert.match(server.problems.join(), new RegExp(`process ${process.pid} uses the store`))
    } finally {
      await stray.close(0)
    }
  })
})

describe('runInit', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
    await rm(fixture.dir, {recursive: true})
  })
  afterEach(() => fixture.remove())

  const resolve = () => Promise.resolve(fixture.context.plane)

  it('leaves nothing behind on a machine that is not fit', async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen({host: '127.0.0.1', port: 0}, done))
    try {
      fixture.context.plane.settings.bindPort = (taken.address() as AddressInfo).port
      await assert.rejects(runInit(initPhases(), fixture.context, observer, resolve), {
        code: 'PORT_IN_USE',
      })
      await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
    } finally {
      taken.close()
    }
  })

  it('makes no lock for a phase that only looks', async () => {
    const checks = [INIT_PHASES.preflight]
    await runInit(checks, fixture.context, observer, resolve)
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it('takes up what another run has settled meanwhile', async () => {
    const settled = {...fixture.context.plane, generatedAuthorities: ['other']}
    const certs = [INIT_PHASES.certs]
    await runInit(certs, fixture.context, observer, () => Promise.resolve(settled))
    assert.deepEqual(fixture.context.plane, settled)
  })
})

describe('planInit', () => {
  it('names the settings that would be kept, and nothing once all is there', async () => {
    const fixture = await planeFixture()
    try {
      const files = [INIT_PHASES.certs, INIT_PHASES.kubeconfig]
      const before = await planInit(files, fixture.context)
      assert.equal(before.dir, fixture.dir)
      assert.match(before.changes[0]?.change ?? '', /save the settings in .*config\.yaml/)
      assert.deepEqual(await readdir(fixture.dir), [])
      await fixture.run('certs', 'kubeconfig')
      assert.deepEqual((await planInit(files, fixture.context)).changes, [])
    } finally {
      await fixture.remove()
    }
  })
})
