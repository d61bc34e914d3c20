import {rm} from 'node:fs/promises'
import {dirname} from 'node:path'
import {hasCode} from '../errors.ts'
import {lookAt, requireReplaceable} from '../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {syncFolder} from '../fs/folders.ts'
import {parsePrivateKey, privateKeyPem, publicHalf, type KeyPair} from '../pki/keys.ts'

export interface PendingKey {
  keys: KeyPair
  pem: string
  /** Whether an earlier run created it. */
  isResumed: boolean
}

/** The key of a request that is under way; `note` records it. A new one is on the disk before it is used, so that a later run can resume. */
export async function ensurePendingKey(
  path: string,
  generate: () => Promise<KeyPair>,
  note?: (files: {path: string; data: string}[]) => Promise<void>,
): Promise<PendingKey> {
  const pending = await readPendingKey(path)
  if (pending) return pending
  const keys = await generate()
  const pem = privateKeyPem(keys.privateKey)
  await note?.([{path, data: pem}])
  await writeFileSafely(path, pem)
  return {keys, pem, isResumed: false}
}

/** The key of an earlier run; undefined if there is none. */
export async function readPendingKey(path: string): Promise<PendingKey | undefined> {
  const pem = (await readFileIfThere(path, {secret: true}))?.toString()
  if (pem === undefined) return undefined
  try {
    const privateKey = parsePrivateKey(pem)
    return {keys: {privateKey, publicKey: publicHalf(privateKey)}, pem, isResumed: true}
  } catch (error) {
    // Nobody can have asked for anything with what is not a key.
    if (hasCode(error, 'KEY_INVALID', 'PEM_INVALID')) return undefined
    throw error
  }
}

export async function discardPendingKey(path: string): Promise<void> {
  if (!(await lookAt(path))) return
  await requireReplaceable(path)
  await rm(path, {force: true})
  await syncFolder(dirname(path))
}
