import {basename, dirname} from 'node:path'
import {TrustError} from '../../errors.ts'
import {createFiles} from '../../pki/file-groups.ts'
import {readFileIfThere, readFileSafely} from '../../pki/files.ts'
import {
  generateKeys,
  parsePrivateKey,
  privateKeyPem,
  publicHalf,
  type KeyAlgorithm,
  type KeyPair,
} from '../../pki/keys.ts'
import {requireStrongKey} from '../../pki/key-policy.ts'
import {forgetPendingKey, type Place} from './destination.ts'

export interface RequestKey {
  keys: KeyPair
  pem: string
  /** Whether an earlier run made it. */
  isKept: boolean
}

const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1']

function keyOf(pem: string, source: string): KeyPair {
  const privateKey = parsePrivateKey(pem)
  const publicKey = publicHalf(privateKey)
  requireStrongKey(publicKey)
  const {asymmetricKeyType: type, asymmetricKeyDetails: details} = publicKey
  if (type === 'rsa' || CURVES.includes(details?.namedCurve)) return {privateKey, publicKey}
  throw new TrustError(
    'KEY_INVALID',
    `the key in ${source} is of a kind that no request is made for`,
    {
      hints: ['use an ECDSA key of P-256 or P-384, or an RSA key'],
    },
  )
}

/** A key that its owner made and keeps. */
export async function readOwnKey(path: string): Promise<RequestKey> {
  const pem = (await readFileSafely(path, {followLinks: true})).toString()
  return {keys: keyOf(pem, path), pem, isKept: true}
}

/** The key of an earlier run that did not come to its end, else a new one, on the disk before anybody hears of it. */
export async function ensurePendingKey(
  path: string,
  algorithm?: KeyAlgorithm,
): Promise<RequestKey> {
  const there = await readFileIfThere(path, {secret: true})
  if (there) return {keys: keyOf(there.toString(), path), pem: there.toString(), isKept: true}
  const keys = await generateKeys(algorithm)
  const pem = privateKeyPem(keys.privateKey)
  const name = basename(path)
  const isMine = await createFiles(dirname(path), name, [{name, data: pem}])
  return isMine ? {keys, pem, isKept: false} : await ensurePendingKey(path, algorithm)
}

/** Refuses a place that holds another pair. One that an earlier run brought to its end, but for the last step, is tidied. */
export async function requireFree(place: Place, {force}: {force: boolean}): Promise<void> {
  const {pendingKey} = place
  const pending = pendingKey && (await readFileIfThere(pendingKey, {secret: true}))
  if (pending && (await place.holds(pending.toString()))) await forgetPendingKey(place)
  const taken = await place.taken()
  if (force || taken.length === 0) return
  throw new TrustError('ALREADY_EXISTS', `${taken.join(' and ')} would be overwritten`, {
    facts: {taken},
    hints: ['choose another place with --out or another name', 'or say --force to replace it'],
  })
}
