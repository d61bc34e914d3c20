import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {build} from 'esbuild'
import {connect} from '../../../src/client/connect.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {clientStore} from '../../../src/node/agent/node-home.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {nodeLock} from '../../../src/node/node-lock.ts'
import {useAgents} from './support.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('crashing-rotation.ts', import.meta.url))

describe('a rotation that is killed', function () {
  this.timeout(180_000)
  const {dir, home, open, attend} = useAgents()
  const script = () => `${dir()}.mjs`
  const start = (killAt: number) => run(process.execPath, [script(), dir(), String(killAt)])
  const isKilledAt = (step: number) =>
    start(step).then(
      () => false,
      (error: unknown) => {
        assert.equal((error as {signal?: string}).signal, 'SIGKILL', String(error))
        return true
      },
    )
  const stored = async () => (await clientStore(await home()).read())?.certificate.serial

  const requireUsable = async (what: string) => {
    const client = await connect(nodeFile(dir(), 'kubeconfig'))
    assert.equal(await whoAmI(client), 'system:node:one', what)
    await client.close()
  }

  it('leaves the old pair or the new one, and nothing to clean up, whatever the step', async () => {
    await build({
      entryPoints: [SCRIPT],
      outfile: script(),
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: {
        js: "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url)",
      },
    })
    const outcomes = {kept: 0, renewed: 0}
    let before = await stored()
    // A rotation takes more or fewer steps, as its notes come in time or late: until one is not killed.
    for (let killAt = 1; await isKilledAt(killAt); killAt += 1) {
      await requireUsable(`killed at step ${killAt}`)
      const now = await stored()
      outcomes[now === before ? 'kept' : 'renewed'] += 1
      before = now
    }
    assert.ok(outcomes.kept + outcomes.renewed > 15, JSON.stringify(outcomes))
    assert.ok(outcomes.kept > 3 && outcomes.renewed > 3, JSON.stringify(outcomes))

    // "node run" holds the lock of the folder.
    const lock = nodeLock(dir(), () => undefined)
    await lock.hold()
    const agent = await open()
    await agent.renew(new AbortController().signal)
    await attend(agent)
    await lock.release()
    const known = /^(ca\.crt|kubelet-client-(\d{4}(-\d\d){5}|current)\.pem)$/
    const left = await readdir(join(dir(), 'pki'))
    assert.deepEqual(
      left.filter((name) => !known.test(name)),
      [],
    )
    const others = (await readdir(dir())).filter((name) => name.startsWith('.'))
    assert.deepEqual(others, [])
  })
})
