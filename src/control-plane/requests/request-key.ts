import {discardPendingKey, ensurePendingKey, type PendingKey} from '../../enrollment/pending-key.ts'
import {TrustError} from '../../errors.ts'
import {readFileIfThere, readFileSafely} from '../../fs/files.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {generateKeys, parsePrivateKey, publicHalf, type KeyAlgorithm} from '../../pki/keys.ts'
import {requireStrongKey} from '../../pki/key-policy.ts'
import type {Destination} from './destination.ts'

export interface KeyOptions {
  /** An existing key; else a new one is generated. */
  keyFile?: string | undefined
  algorithm?: KeyAlgorithm | undefined
}

const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1']

/** Refuses a destination that holds another pair. If an earlier run only missed its last step, completes that step. */
export async function requireFree(
  destination: Destination,
  {force}: {force: boolean},
): Promise<void> {
  const {folder, pendingKey} = destination
  // The mode of an existing folder is not changed.
  await ensureFolder(folder, {repair: false})
  const pending = pendingKey && (await readFileIfThere(pendingKey, {secret: true}))
  if (pending && (await destination.holds(pending.toString()))) await discardKeyOf(destination)
  const taken = await destination.taken()
  if (force || taken.length === 0) return
  throw new TrustError('ALREADY_EXISTS', `${taken.join(' and ')} would be overwritten`, {
    facts: {taken},
    hints: ['choose another folder with --out or another name', 'or use --force to replace it'],
  })
}

/** The owner's own key, the key of an earlier run that was interrupted, or a new one. */
export async function keyFor(
  {pendingKey}: Destination,
  {keyFile, algorithm}: KeyOptions,
): Promise<PendingKey> {
  if (keyFile !== undefined) return await readOwnKey(keyFile)
  if (pendingKey === undefined) throw new Error("a destination without a key needs the owner's key")
  return await ensurePendingKey(pendingKey, () => generateKeys(algorithm))
}

async function readOwnKey(path: string): Promise<PendingKey> {
  const pem = (await readFileSafely(path, {followLinks: true})).toString()
  const privateKey = parsePrivateKey(pem)
  const publicKey = publicHalf(privateKey)
  requireStrongKey(publicKey)
  const {asymmetricKeyType: type, asymmetricKeyDetails: details} = publicKey
  if (type !== 'rsa' && !CURVES.includes(details?.namedCurve)) {
    throw new TrustError('KEY_INVALID', `the key in ${path} is of a kind that cannot be used`, {
      hints: ['use an ECDSA key of P-256 or P-384, or an RSA key'],
    })
  }
  return {keys: {privateKey, publicKey}, pem, isResumed: false}
}

export const discardKeyOf = async ({pendingKey}: Destination): Promise<void> => {
  if (pendingKey !== undefined) await discardPendingKey(pendingKey)
}
