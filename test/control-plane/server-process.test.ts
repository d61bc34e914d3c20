import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {createServer} from 'node:net'
import {constants} from 'node:os'
import {join} from 'node:path'
import {serve} from '../../src/control-plane/serve.ts'
import {startInBackground, waitForUnit} from '../../src/control-plane/server-process.ts'
import {readStartFailure, writeStartFailure} from '../../src/control-plane/server-state.ts'
import {TrustError} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'
import {writeFailed} from '../../src/storage/lmdb-file.ts'
import {fileError} from '../../src/storage/store-files.ts'
import {Cleanup, listen} from '../client/support/servers.ts'
import {planeFixture} from './plane-fixture.ts'

/** A program in place of trustadm: `node -e <code> -- serve --dir <folder>`, run in that folder. */
const program = (code: string) => [process.execPath, '-e', code, '--']

describe('a server that does not start', () => {
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  const fixtureFor = async (port = 0) => {
    const fixture = await planeFixture({bindPort: port})
    cleanup.add({stop: fixture.remove})
    return fixture
  }

  it('records why, with what to do', async () => {
    const {port} = cleanup.add(await listen(createServer(), 'tcp'))
    const {context, run} = await fixtureFor(port)
    await run('certs')
    const options = {clock: systemClock, log: () => undefined}
    await assert.rejects(serve(context.plane, options), {code: 'PORT_IN_USE'})
    const failure = await readStartFailure(context.plane)
    assert.match(failure?.message ?? '', new RegExp(String(port)))
    assert.notDeepEqual(failure?.hints, [])
  })

  it('has its reason and its hints shown by the command that started it', async () => {
    const {context} = await fixtureFor()
    const failure = {message: 'the clock is wrong', hints: ['set it']}
    const code = `fs.writeFileSync('start-failure.json', ${JSON.stringify(JSON.stringify(failure))}); process.exitCode = 1`
    await assert.rejects(startInBackground(context.plane, program(code)), (error: TrustError) => {
      assert.equal(error.code, 'SERVER_NOT_STARTED')
      assert.equal(error.message, 'the server ended before it was ready: the clock is wrong')
      assert.equal(error.suggestions[0], 'set it')
      return true
    })
  })

  it('has shown what it waits for if it is not ready in time', async () => {
    const {context} = await fixtureFor()
    const failure = {message: 'etcd does not respond', hints: ['start etcd'], isWaiting: true}
    const code = `fs.writeFileSync('start-failure.json', ${JSON.stringify(JSON.stringify(failure))})
      const timer = setInterval(() => fs.existsSync('start-failure.json') || clearInterval(timer), 20)`
    await assert.rejects(
      startInBackground(context.plane, program(code), 1_000),
      (error: TrustError) => {
        assert.equal(error.code, 'TIMED_OUT')
        assert.equal(error.message, 'the server was not ready within 1 s: etcd does not respond')
        assert.equal(error.suggestions[0], 'start etcd')
        return true
      },
    )
    // The process ends once this, or its whole folder, is gone.
    await rm(join(context.plane.dir, 'start-failure.json'))
  })

  it('is waited for, with systemd, while it waits for something itself', async () => {
    const {context} = await fixtureFor()
    const failed = new Error('no etcd')
    await writeStartFailure(context.plane, failed, {isWaiting: true})
    await assert.rejects(waitForUnit(context.plane, 'trustadm', 200), {
      code: 'TIMED_OUT',
      message: 'the server was not ready within 0.2 s: no etcd',
    })
    await writeStartFailure(context.plane, failed)
    await assert.rejects(waitForUnit(context.plane, 'trustadm', 200), {code: 'SERVER_NOT_STARTED'})
  })

  const written = Object.assign(new Error('write'), {code: 'ENOSPC'})
  const full: [where: string, error: unknown][] = [
    ['the folder of the store', fileError(written, '/p/store/data.mdb')],
    ['the store', writeFailed(Object.assign(new Error('write'), {code: constants.errno.ENOSPC}))],
    ['the API', new Error('cannot POST /api/v1/namespaces', {cause: {code: 'ENOSPC'}})],
  ]
  for (const [where, error] of full) {
    it(`says in one sentence that the disk is full, if ${where} says so`, async () => {
      const {context} = await fixtureFor()
      await writeStartFailure(context.plane, error)
      const record = JSON.stringify(JSON.stringify(await readStartFailure(context.plane)))
      const code = `fs.writeFileSync('start-failure.json', ${record}); process.exitCode = 1`
      await assert.rejects(startInBackground(context.plane, program(code)), {
        code: 'SERVER_NOT_STARTED',
        message: `the server did not start: the disk of ${context.plane.dir} is full`,
        suggestions: ['free some space and run the command again; nothing acknowledged was lost'],
      })
    })
  }

  it('is not blamed for the failure of an earlier start, or for a record that is torn', async () => {
    const {context} = await fixtureFor()
    const ended = {code: 'SERVER_NOT_STARTED', message: 'the server ended before it was ready'}
    await writeStartFailure(context.plane, new Error('earlier'))
    await assert.rejects(startInBackground(context.plane, program('')), ended)
    const torn = `fs.writeFileSync('start-failure.json', '{"message": "the di')`
    await assert.rejects(startInBackground(context.plane, program(torn)), ended)
  })
})
