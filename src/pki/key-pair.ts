import type {KeyObject} from 'node:crypto'
import {join} from 'node:path'
import {TrustError} from '../errors.ts'
import type {KeyPairSpec} from './catalog.ts'
import {createFiles, recoverFolder} from './file-groups.ts'
import {readFileIfThere, writeFileSafely} from './files.ts'
import {ensureFolder} from './folders.ts'
import type {BeforeWrite} from './pair-store.ts'
import {requireStrongKey} from './key-policy.ts'
import {
  generateKeys,
  isPairOf,
  parsePrivateKey,
  parsePublicKey,
  privateKeyPem,
  publicHalf,
  publicKeyPem,
  type KeyAlgorithm,
} from './keys.ts'

/** A pair of bare keys as it is found in the certificate folder. */
export interface StoredKeyPair {
  publicKey: KeyObject
  /** Absent where only the public half is here: tokens can then be checked and not issued. */
  privateKey?: KeyObject
}

async function readKeys(
  certDir: string,
  spec: KeyPairSpec,
): Promise<{privateKey?: KeyObject; publicKey?: KeyObject}> {
  await recoverFolder(certDir)
  const privateText = await readFileIfThere(join(certDir, spec.privateKey), {secret: true})
  const publicText = await readFileIfThere(join(certDir, spec.publicKey))
  return {
    ...(privateText && {privateKey: parsePrivateKey(privateText.toString())}),
    ...(publicText && {publicKey: parsePublicKey(publicText.toString())}),
  }
}

/** The pair of the folder; undefined where nothing of it is there. */
export async function readKeyPair(
  certDir: string,
  spec: KeyPairSpec,
): Promise<StoredKeyPair | undefined> {
  const {privateKey, publicKey} = await readKeys(certDir, spec)
  if (!privateKey) return publicKey && {publicKey}
  if (publicKey && !isPairOf(privateKey, publicKey)) {
    throw new TrustError(
      'PAIR_MISMATCH',
      `${join(certDir, spec.privateKey)} and ${join(certDir, spec.publicKey)} are not of one pair`,
      {hints: [`move ${spec.publicKey} away: it is made again from ${spec.privateKey}`]},
    )
  }
  return {privateKey, publicKey: publicHalf(privateKey)}
}

/** The pair of the folder, made where it is not there and never overwritten; a public half that is missing is added. */
export async function ensureKeyPair(
  certDir: string,
  spec: KeyPairSpec,
  options: {algorithm?: KeyAlgorithm; beforeWrite?: BeforeWrite} = {},
): Promise<StoredKeyPair & {created: boolean}> {
  const {algorithm, beforeWrite} = options
  await ensureFolder(certDir)
  const there = await readKeyPair(certDir, spec)
  if (there) {
    requireStrongKey(there.publicKey)
    const publicPath = join(certDir, spec.publicKey)
    if (!(await readFileIfThere(publicPath))) {
      const data = publicKeyPem(there.publicKey)
      await beforeWrite?.([{path: publicPath, data}])
      await writeFileSafely(publicPath, data)
    }
    return {...there, created: false}
  }
  const keys = await generateKeys(algorithm)
  const files = [
    {name: spec.privateKey, data: privateKeyPem(keys.privateKey)},
    {name: spec.publicKey, data: publicKeyPem(keys.publicKey)},
  ]
  await beforeWrite?.(files.map(({name, data}) => ({path: join(certDir, name), data})))
  if (await createFiles(certDir, spec.id, files)) return {...keys, created: true}
  return ensureKeyPair(certDir, spec, options)
}
