import type {KeyObject} from 'node:crypto'
import {join} from 'node:path'
import {TrustError} from '../errors.ts'
import type {KeyPairSpec} from './catalog.ts'
import {createFiles, recoverFolder} from '../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import type {BeforeWrite} from './pair-store.ts'
import {requireStrongKey} from './key-policy.ts'
import {
  generateKeys,
  isPairOf,
  parsePrivateKey,
  parsePublicKeys,
  privateKeyPem,
  publicHalf,
  publicKeyPem,
  type KeyAlgorithm,
} from './keys.ts'

/** Bare keys as they are found in the certificate folder: one signs, and while keys are exchanged several are believed. */
export interface StoredKeys {
  /** All keys of the public file; the private key's own half is always among them. */
  publicKeys: readonly KeyObject[]
  /** Absent where only the public file is here: tokens can then be checked and not issued. */
  privateKey?: KeyObject
}

/** The keys of the folder; undefined if neither file is there. */
export async function readKeyPair(
  certDir: string,
  spec: KeyPairSpec,
): Promise<StoredKeys | undefined> {
  await recoverFolder(certDir)
  const privatePath = join(certDir, spec.privateKey)
  const publicPath = join(certDir, spec.publicKey)
  const privateText = await readFileIfThere(privatePath, {secret: true})
  const publicText = await readFileIfThere(publicPath)
  const publicKeys = publicText && parsePublicKeys(publicText.toString())
  if (!privateText) return publicKeys && {publicKeys}
  const privateKey = parsePrivateKey(privateText.toString())
  if (publicKeys && !publicKeys.some((key) => isPairOf(privateKey, key))) {
    throw new TrustError(
      'PAIR_MISMATCH',
      `${publicPath} does not hold the public key of ${privatePath}`,
      {
        hints: [
          `add the public key of ${spec.privateKey} to ${spec.publicKey}`,
          `or move ${spec.publicKey} away: it is created again from ${spec.privateKey}`,
        ],
      },
    )
  }
  return {privateKey, publicKeys: publicKeys ?? [publicHalf(privateKey)]}
}

/** The pair of the folder, made where it is not there and never overwritten; a public half that is missing is added. */
export async function ensureKeyPair(
  certDir: string,
  spec: KeyPairSpec,
  options: {algorithm?: KeyAlgorithm; beforeWrite?: BeforeWrite} = {},
): Promise<StoredKeys & {created: boolean}> {
  const {algorithm, beforeWrite} = options
  await ensureFolder(certDir)
  const there = await readKeyPair(certDir, spec)
  if (there) {
    there.publicKeys.forEach(requireStrongKey)
    const publicPath = join(certDir, spec.publicKey)
    if (!(await readFileIfThere(publicPath))) {
      const data = there.publicKeys.map(publicKeyPem).join('')
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
  if (await createFiles(certDir, spec.id, files)) {
    return {privateKey: keys.privateKey, publicKeys: [keys.publicKey], created: true}
  }
  return ensureKeyPair(certDir, spec, options)
}
