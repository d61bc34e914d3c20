import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {ADMIN, startTestServer, type TestServer} from '../../test/helpers/test-server.ts'
import {configMap} from '../objects.ts'
import {milliseconds} from '../rows.ts'
import {serveCalls} from './calls.ts'
import {usage, type Target} from './target.ts'

const WRITERS = 64

let server: TestServer | undefined
let folder = ''

/** The whole server with its controllers, its audit log and a durable store. */
async function start(): Promise<Target> {
  folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const storage = await openLmdbStorage(join(folder, 'store'))
  server = await startTestServer({storage, audit: {path: join(folder, 'audit.log')}})
  const {port, ca} = server
  return {port, ca, ...(await server.credentialsFor('admin', ['system:masters']))}
}

/** Makes objects in a namespace, numbered. */
async function fill({namespace, from, to}: {namespace: string; from: number; to: number}) {
  const client = running().clientAs(ADMIN)
  if ((await client.namespaces.find(namespace)) === undefined)
    await client.namespaces.create({metadata: {name: namespace}})
  let next = from
  await Promise.all(
    Array.from({length: WRITERS}, async () => {
      while (next < to) await client.configMaps.create(configMap(namespace, next++))
    }),
  )
  await client.close()
}

async function clear(namespace: string): Promise<void> {
  const client = running().clientAs(ADMIN)
  await client.configMaps.deleteCollection({namespace})
  await client.close()
}

/** What the store alone takes to commit as many values of a size, by as many writers: milliseconds. */
async function commit({count, size, writers}: {count: number; size: number; writers: number}) {
  const path = join(folder, `raw-${performance.now()}`)
  const storage = await openLmdbStorage(path)
  const value = Buffer.alloc(size, 'x')
  let next = 0
  const took = await milliseconds(() =>
    Promise.all(
      Array.from({length: writers}, async () => {
        while (next < count) await storage.create(`/bench/${next++}`, value)
      }),
    ),
  )
  await storage.close()
  await rm(path, {recursive: true, force: true})
  return took
}

async function stop(): Promise<void> {
  const {errors} = running()
  await running().stop()
  await rm(folder, {recursive: true, force: true})
  if (errors.length > 0) throw new Error(`the server had errors: ${errors.join('; ')}`)
}

function running(): TestServer {
  if (server === undefined) throw new Error('the server has not been started')
  return server
}

const operations = {start, fill, clear, commit, usage, stop}
export type ApiServerOperations = typeof operations

serveCalls(operations)
