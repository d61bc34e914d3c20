import {writeSync} from 'node:fs'
import {hasCode} from '../../src/errors.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'

/**
 * Writes so many keys one after the other, and says of each whether it is there ("+key") or was refused ("-key"). Its
 * arguments: the folder, how many keys. What must not happen ends it with another code than 0.
 */
const [folder = '', count = ''] = process.argv.slice(2)
const storage = await openLmdbStorage(folder)
const tell = (line: string) => writeSync(1, `${line}\n`)

for (let index = 0; index < Number(count); index++) {
  const key = `/k/${index}`
  try {
    await storage.create(key, Buffer.alloc(index % 3 === 0 ? 9_000 : 500, 'v'))
    tell(`+${key}`)
    if (index % 5 === 4) await storage.compact((await storage.revision()) - 2)
  } catch (error) {
    if (!hasCode(error, 'STORE_WRITE_FAILED')) throw error
    tell((await storage.get(key)) ? `+${key}` : `-${key}`)
  }
}
await storage.close()
