import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {build} from 'esbuild'
import {connect} from '../../../src/client/connect.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {parseRequest} from '../../../src/pki/request.ts'
import {joinRequest, startJoinableCluster, useFolder} from '../support.ts'
import type {JoinableCluster} from '../support.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('crashing-join.ts', import.meta.url))

describe('a join that is killed', function () {
  this.timeout(180_000)
  const folder = useFolder()
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  let scripts = ''
  before(async () => {
    scripts = await mkdtemp(join(tmpdir(), 'trustadm-crash-'))
    // Compiled once: it is started some forty times.
    await build({
      entryPoints: [SCRIPT],
      outfile: join(scripts, 'join.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: {
        js: "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url)",
      },
    })
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
  })
  after(async () => {
    await issuing.stop()
    await cluster.stop()
    await rm(scripts, {recursive: true, force: true})
  })

  const settingsOf = (name: string) => cluster.settings(join(folder(), name), name)
  const start = (name: string, killAt: number) =>
    run(process.execPath, [
      join(scripts, 'join.mjs'),
      JSON.stringify(settingsOf(name)),
      String(killAt),
    ])

  /** What is there after a join that was completed, and nothing else. */
  const requireComplete = async (name: string, killedAt: number) => {
    const {dir} = settingsOf(name)
    const client = await connect(join(dir, 'kubelet.conf'))
    assert.equal(await whoAmI(client), `system:node:${name}`, `killed at step ${killedAt}`)
    await client.close()
    assert.equal((await cluster.admin.nodes.get(name)).metadata.name, name)
    const left = await readdir(join(dir, 'pki'))
    const unknown = left.filter((file) => !/^(ca\.crt|kubelet-client-[-\w]+\.pem)$/.test(file))
    assert.deepEqual(unknown, [], `killed at step ${killedAt}`)
    const {items} = await cluster.admin.csrs.list()
    const own = items.filter(({spec}) => subjectOf(spec.request) === `system:node:${name}`)
    assert.equal(own.length, 1, `killed at step ${killedAt}: it asked once`)
  }

  it('goes on where it stopped, whatever the step, with one request and one key', async () => {
    const {stdout} = await start('whole', 0)
    const steps = Number(stdout)
    assert.ok(steps > 20, `${steps} steps`)
    const one = async (killAt: number) => {
      const name = `at-${killAt}`
      await assert.rejects(start(name, killAt), {signal: 'SIGKILL'})
      await runJoin(joinRequest(settingsOf(name)), joinPhases())
      await requireComplete(name, killAt)
    }
    for (let killAt = 1; killAt <= steps; killAt += 2) {
      await Promise.all([one(killAt), ...(killAt < steps ? [one(killAt + 1)] : [])])
    }
  })
})

const subjectOf = (request: string): string =>
  parseRequest(Buffer.from(request, 'base64').toString()).subject.commonName
