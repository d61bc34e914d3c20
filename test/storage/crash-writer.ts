import {writeSync} from 'node:fs'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import type {Acknowledged} from './start-writer.ts'

const WRITERS = 16
const [folder = '', round = ''] = process.argv.slice(2)

const storage = await openLmdbStorage(folder)

/** Written at once and whole: a pipe takes so little in one piece. */
function tell(acknowledged: Acknowledged): void {
  writeSync(1, `${JSON.stringify(acknowledged)}\n`)
}

const value = (content: string) => new TextEncoder().encode(content.repeat(60))

/** Creates, updates and deletes keys of its own, and lets others compact. */
async function writer(name: number): Promise<never> {
  for (let step = 0; ; step++) {
    const key = `/w/${round}/${name}/${step}`
    const created = await storage.create(key, value(`c${step}`))
    tell({key, revision: created.revision, content: `c${step}`})
    const updated = await storage.update(key, value(`u${step}`), created.revision)
    tell({key, revision: updated.revision, content: `u${step}`})
    if (step % 3 !== 0) continue
    const {revision} = await storage.delete(key, updated.revision)
    tell({key, revision})
    if (name === 0) await storage.compact(Math.max(1, (await storage.revision()) - 200))
  }
}

await Promise.all(Array.from({length: WRITERS}, (_, name) => writer(name)))
