import {rm} from 'node:fs/promises'
import {hasCode} from '../errors.ts'
import {readFileIfThere, writeFileSafely} from '../pki/files.ts'
import {ensureFolder, syncFolder} from '../pki/folders.ts'
import {lookAt, requireReplaceable} from '../pki/file-checks.ts'
import {parsePrivateKey, privateKeyPem, publicHalf, type KeyPair} from '../pki/keys.ts'
import {nodeFile} from './node-files.ts'

/** The key of a request that an earlier run has left under way; undefined where none did. */
export async function readPendingKey(dir: string): Promise<KeyPair | undefined> {
  const text = await readFileIfThere(nodeFile(dir, 'pendingKey'), {secret: true})
  if (!text) return undefined
  try {
    const privateKey = parsePrivateKey(text.toString())
    return {privateKey, publicKey: publicHalf(privateKey)}
  } catch (error) {
    // Nothing was ever asked for with what is no key.
    if (hasCode(error, 'KEY_INVALID', 'PEM_INVALID')) return undefined
    throw error
  }
}

/** Keeps the key before anything is asked for with it, so that a run that was killed can be gone on with. */
export async function keepPendingKey(dir: string, {privateKey}: KeyPair): Promise<void> {
  await ensureFolder(nodeFile(dir, 'pki'))
  await writeFileSafely(nodeFile(dir, 'pendingKey'), privateKeyPem(privateKey))
}

/** Answers whether there was one. */
export async function discardPendingKey(dir: string): Promise<boolean> {
  const path = nodeFile(dir, 'pendingKey')
  if (!(await lookAt(path))) return false
  await requireReplaceable(path)
  await rm(path, {force: true})
  await syncFolder(nodeFile(dir, 'pki'))
  return true
}
