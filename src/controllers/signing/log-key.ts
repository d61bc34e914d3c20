import {randomBytes} from 'node:crypto'
import {rename} from 'node:fs/promises'
import {dirname} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {syncFolder} from '../../fs/folders.ts'

/** What the lines of a log are authenticated with. */
export interface LogKey {
  key: Buffer
  /** A log from before there was a key may still hold lines without one. */
  isNew: boolean
}

const FORM = /^[0-9a-f]{64}\n?$/
/** A key becomes the log's once the log has a line of it: killed in between, the next start finds it under this name. */
const incoming = (path: string): string => `${path}.new`

async function read(path: string): Promise<Buffer | undefined> {
  const content = await readFileIfThere(path, {secret: true})
  if (content === undefined) return undefined
  const text = content.toString('latin1')
  if (FORM.test(text)) return Buffer.from(text.trim(), 'hex')
  throw new TrustError('KEY_INVALID', `${path} does not hold the key of an issuance log`, {
    hints: ['put it back from a backup', 'or move it and the log away to begin both again'],
  })
}

/** The key of a log; undefined if there is none. */
export const readLogKey = read

/** The key of a log, made where there is none. */
export async function takeLogKey(path: string): Promise<LogKey> {
  const settled = await read(path)
  if (settled) return {key: settled, isNew: false}
  const begun = await read(incoming(path))
  if (begun) return {key: begun, isNew: true}
  await writeFileSafely(incoming(path), `${randomBytes(32).toString('hex')}\n`)
  // Read back, for another process may have made one at the same time.
  return await takeLogKey(path)
}

/** From now on lines without the key are a break of the log. */
export async function settleLogKey(path: string): Promise<void> {
  if (!(await lookAt(incoming(path)))) return
  await rename(incoming(path), path)
  await syncFolder(dirname(path))
}
