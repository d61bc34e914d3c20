import assert from 'node:assert/strict'
import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import type {ConfigMap} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {sleep} from '../../src/runtime.ts'
import {PROGRAM, startCluster, type Cluster} from '../helpers/cluster.ts'

const KILLS = 50
const WRITERS = 8

interface Acknowledged {
  revision: number
  count: number
}

describe('a server that is killed', () => {
  let cluster: Cluster
  let child: ChildProcess | undefined

  before(async function () {
    this.timeout(60_000)
    cluster = await startCluster()
  })

  after(async () => {
    child?.kill('SIGKILL')
    await cluster.stop()
  })

  async function serve(): Promise<ApiClient> {
    child = spawn(process.execPath, [PROGRAM, 'serve', '--dir', cluster.dir], {stdio: 'ignore'})
    const client = await connect(cluster.kubeconfig, {retry: {attempts: 1}, timeout: 5000})
    for (;;) {
      const ready = await client.raw('/readyz').catch(() => undefined)
      if (ready === 'ok') return client
      assert.equal(child.exitCode, null, 'the server must start by itself')
      await sleep(10)
    }
  }

  async function kill(): Promise<void> {
    assert.ok(child)
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  it(`keeps every acknowledged write through ${KILLS} SIGKILLs under load`, async function () {
    this.timeout(240_000)
    const acknowledged = new Map<string, Acknowledged>()
    let highest = 0
    await cluster.killServer()

    for (let round = 0; round < KILLS; round++) {
      const client = await serve()
      const floor = highest
      let alive = true
      const write = async (writer: number) => {
        for (let number = 0; alive; number++) {
          const name = `w-${round}-${writer}-${number >> 2}`
          const count = number & 3
          try {
            const written = await writeOnce(client, name, count)
            const revision = Number(written.metadata.resourceVersion)
            assert.ok(revision > floor, `revision ${revision} after ${floor}`)
            acknowledged.set(name, {revision, count})
            highest = Math.max(highest, revision)
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            return
          }
        }
      }
      const writers = Array.from({length: WRITERS}, (_, writer) => write(writer))
      const before = acknowledged.size
      let over = false
      const writing = Promise.all(writers).finally(() => (over = true))
      while (acknowledged.size === before && !over) await sleep(1)
      await sleep(Math.random() * 120)
      await kill()
      alive = false
      await writing
      await client.close()
    }

    const client = await serve()
    const {items, metadata} = await client.configMaps.list({namespace: 'default'})
    const stored = new Map(items.map((item) => [item.metadata.name, item]))
    for (const [name, {revision, count}] of acknowledged) {
      const found = stored.get(name)
      assert.ok(found, `${name} was acknowledged and is gone`)
      assert.ok(Number(found.metadata.resourceVersion) >= revision, name)
      assert.ok(Number(found.data?.count) >= count, name)
    }
    assert.ok(Number(metadata.resourceVersion) >= highest)
    assert.ok(acknowledged.size >= KILLS, `only ${acknowledged.size} writes were acknowledged`)
    await client.close()
    await kill()
  })
})

/** Creates an object, then changes it: both are to survive. */
async function writeOnce(client: ApiClient, name: string, count: number): Promise<ConfigMap> {
  const object = {metadata: {namespace: 'default', name}, data: {count: String(count)}}
  return count === 0 ? client.configMaps.create(object) : client.configMaps.update(object)
}
