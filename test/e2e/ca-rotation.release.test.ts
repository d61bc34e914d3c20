import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {readFile, readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {build} from 'esbuild'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {stepsOf} from '../../src/control-plane/ca-rotation/advance.ts'
import type {Action} from '../../src/control-plane/ca-rotation/journal.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import {Plane} from '../helpers/plane.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('crashing-ca-rotation.ts', import.meta.url))

describe('a rotation of the CAs that is killed', function () {
  this.timeout(900_000)
  let plane: Plane
  let script: string
  let first: ServerAccess
  beforeEach(async () => {
    plane = await Plane.start()
    script = `${plane.cluster.dir}.mjs`
    await build({
      entryPoints: [SCRIPT],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: {
        js: "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url)",
      },
    })
    first = await resolveAccess(await loadKubeconfig(plane.cluster.kubeconfig))
  })
  afterEach(async () => {
    await plane.stop()
    await rm(script, {force: true})
  })

  /** What the run printed; undefined if it was killed. */
  const attempt = (action: string, killAt: number): Promise<string | undefined> =>
    run(process.execPath, [script, plane.cluster.dir, action, String(killAt)]).then(
      ({stdout}) => stdout,
      (error: unknown) => {
        const {signal, stderr} = error as {signal?: string; stderr?: string}
        assert.equal(signal, 'SIGKILL', stderr)
        return undefined
      },
    )
  const requireAccepted = async (access: ServerAccess, what: string) => {
    const client = connectTo(access, {retry: {attempts: 1}})
    try {
      assert.equal(await whoAmI(client), 'kubernetes-admin', what)
    } finally {
      await client.close()
    }
  }
  const current = async () => resolveAccess(await loadKubeconfig(plane.cluster.kubeconfig))

  /** Kills the command at a later and later step until the action is done. What lies between is in `interrupted.release.test.ts`. */
  const killUntilDone = async (action: string, alsoAccepted?: ServerAccess) => {
    let kills = 0
    for (let killAt = 1; ; killAt += 1) {
      const phase = await attempt(action, killAt)
      if (phase !== undefined) return {phase, kills}
      kills += 1
      const what = `${action}, killed at ${killAt}`
      await requireAccepted(await current(), what)
      if (alsoAccepted) await requireAccepted(alsoAccepted, what)
    }
  }

  it('is completed by the next run, and old or new credentials always work', async () => {
    const started = await killUntilDone('start', first)
    assert.equal(started.phase, 'Prepare')
    assert.ok(started.kills > 20, String(started.kills))
    await requireAccepted(first, 'after the start')

    const completed = await killUntilDone('complete')
    assert.equal(completed.phase, 'Completed')
    assert.ok(completed.kills > 10, String(completed.kills))
    await assert.rejects(requireAccepted(first, 'after the completion'))
    const client = await connect(plane.cluster.kubeconfig)
    await client.namespaces.list()
    await client.close()
    const left = await readdir(join(plane.cluster.dir, 'pki'))
    assert.deepEqual(
      left.filter((name) => name.startsWith('.') || name === 'rotation'),
      [],
    )
  })

  /** Kills the server when each step begins; some steps are done while it is away. */
  const killServers = async (action: Action, alsoAccepted?: ServerAccess) => {
    const left = new Set(stepsOf({action}).map(({id}) => id))
    for (;;) {
      const args = [script, plane.cluster.dir, action, [...left].join()]
      const {stdout, stderr} = await run(process.execPath, args).catch((error: unknown) => {
        return error as {stdout: string; stderr: string}
      })
      const [id = ''] = stdout.split('\n')
      if (!left.delete(id)) return id || stderr
      await plane.restart()
      const what = `${action}, the server killed at ${id}`
      await requireAccepted(await current(), what)
      if (alsoAccepted) await requireAccepted(alsoAccepted, what)
    }
  }

  it('goes on after the server was killed at each step', async () => {
    assert.equal(await killServers('start', first), 'Prepare')
    // Who came with the old certificate comes back with the new one.
    await requireAccepted(await current(), 'after the start')
    assert.equal(await killServers('complete'), 'Completed')
    await assert.rejects(requireAccepted(first, 'after the completion'))
  })

  it('is undone after the server was killed at each step', async () => {
    assert.equal(await attempt('start', 0), 'Prepare')
    assert.equal(await killServers('abort', first), 'none')
    await requireAccepted(first, 'after the abort')
  })

  it('is undone by the next run, and old credentials always work', async () => {
    const old = await readFile(join(plane.cluster.dir, 'pki', 'ca.crt'), 'utf8')
    assert.equal(await attempt('start', 0), 'Prepare')
    const aborted = await killUntilDone('abort', first)
    assert.equal(aborted.phase, 'none')
    assert.ok(aborted.kills > 10, String(aborted.kills))
    await requireAccepted(first, 'after the abort')
    assert.equal(await readFile(join(plane.cluster.dir, 'pki', 'ca.crt'), 'utf8'), old)
    const left = await readdir(join(plane.cluster.dir, 'pki'))
    assert.deepEqual(
      left.filter((name) => /^\.|client-ca|kubelet-ca|rotation|archive/.test(name)),
      [],
    )
  })
})
