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

/** Bare keys in the certificate folder: one signs; while keys are being replaced, several verify. */
export interface StoredKeys {
  /** All keys of the public file, which always include the public half of the private key. */
  publicKeys: readonly KeyObject[]
  /** Absent if there is only the public file: then tokens can be verified but not issued. */
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
      `${publicPath} does not contain the public key of ${privatePath}`,
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

/** The pair in the folder, created if it does not exist and never overwritten; a missing public half is added. */
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
