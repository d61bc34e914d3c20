import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {randomUUID} from 'node:crypto'
import {fileURLToPath} from 'node:url'
import type {TrustError} from '../../../../src/errors.ts'
import type {StoreKind} from '../../../../src/control-plane/migration/migrate.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../../helpers/etcd.ts'
import {contentOf, MigratingPlane} from '../support.ts'

const SCRIPT = fileURLToPath(new URL('crashing-migration.ts', import.meta.url))

describeWithEtcd('store migrate, killed', function () {
  this.timeout(600_000)
  let cluster: EtcdCluster
  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  /** Runs it in a process of its own; undefined if that was killed, otherwise how many steps it took. */
  const run = (made: MigratingPlane, from: StoreKind, to: StoreKind, killAt: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const target = [made.servers[0] ?? '', made.prefix]
      const args = ['--import', 'tsx', SCRIPT, made.dir, from, to, ...target, String(killAt)]
      execFile(process.execPath, args, (error, stdout, stderr) => {
        if (error?.signal === 'SIGKILL') resolve(undefined)
        else if (error) reject(new Error(stderr))
        else resolve(Number(stdout))
      })
    })

  async function killedAt(from: StoreKind, to: StoreKind, step: number): Promise<number> {
    const made = await MigratingPlane.create(cluster.servers, `/test/${randomUUID()}`)
    try {
      if (from === 'etcd') await made.migrate('embedded', 'etcd')
      const before = await made.served(contentOf)
      const revision = await made.served((storage) => storage.revision())
      const steps = await run(made, from, to, step)
      assert.equal(steps === undefined, step > 0, `step ${step}`)
      // A server has all objects, or does not start.
      const content = await made.served(contentOf).catch((error: unknown) => {
        const {code, suggestions, stack} = error as TrustError
        assert.equal(code, 'CONFLICT', stack)
        assert.match(
          suggestions.join(),
          /(?:"trustadm restore" was run|same "trustadm restore" again)/,
        )
      })
      if (content) assert.deepEqual(content, before, `step ${step}`)
      // Also if it was killed when everything was done.
      await made.migrate(from, to).catch((error: unknown) => {
        assert.match(String(error), /already$/, `step ${step}`)
      })
      assert.deepEqual(await made.served(contentOf), before, `step ${step}`)
      assert.equal((await made.plane()).settings.etcdServers !== undefined, to === 'etcd')
      assert.ok((await made.served((storage) => storage.revision())) >= revision)
      return steps ?? 0
    } finally {
      await made.remove()
    }
  }

  for (const [from, to] of [
    ['embedded', 'etcd'],
    ['etcd', 'embedded'],
  ] as const) {
    it(`from ${from} to ${to} is completed by the next run, wherever that was`, async () => {
      const steps = await killedAt(from, to, 0)
      assert.ok(steps > 5, String(steps))
      // All of them, but for most of the writes of single keys.
      const all = Array.from({length: steps}, (_, index) => index + 1)
      const isSingle = (step: number) => step > 10 && step < steps - 10 && step % 12 !== 0
      const chosen = all.filter((step) => !isSingle(step))
      for (const step of chosen) await killedAt(from, to, step)
    })
  }
})
