import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import {replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {removeSecret, replaceSecret} from '../../fs/shred.ts'
import {TrustError} from '../../errors.ts'
import {encodeBundle} from '../../pki/bundle.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {readPair, replacePair, type BeforeWrite} from '../../pki/pair-store.ts'
import {CLUSTER_CA} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {notesMade} from '../../fs/made-files.ts'
import {isProvided, readCross, readHeld, readHeldKeys, type Which} from './generations.ts'
import type {Unit} from './units.ts'

/** Which generation of a CA signs, and which are trusted. */
export interface Arrangement {
  signs: Which
  trusts: readonly Which[]
}

function lost(what: string): TrustError {
  return new TrustError('NOT_FOUND', `${what} is missing in the folder of the rotation`, {
    hints: ['restore the folder "rotation" of the certificates from a backup'],
  })
}

/**
 * Puts the files of a CA into an arrangement: the first certificate of its file signs, all of them are trusted. Changes nothing that
 * is right. Certificate and key change together, whenever the process is killed.
 */
export async function arrange(plane: Plane, unit: Unit, wanted: Arrangement): Promise<boolean> {
  return unit.spec
    ? await arrangeAuthority(plane, unit, wanted)
    : await arrangeKeys(plane, unit, wanted)
}

/** A CA that an operator has provided stays the operator's, also beside a new one: `reset` keeps it. */
const notesFor = async (
  plane: Plane,
  unit: Unit,
  signs: Which,
): Promise<BeforeWrite | undefined> =>
  signs === 'old' && (await isProvided(plane, unit)) ? undefined : notesMade(plane)

async function arrangeAuthority(
  plane: Plane,
  unit: Unit,
  {signs, trusts}: Arrangement,
): Promise<boolean> {
  const {spec, separatedFrom} = unit
  if (!spec) return false
  const certDir = certDirOf(plane)
  const [crt, key] = [join(certDir, spec.place.crt), join(certDir, spec.place.key)]
  if (separatedFrom !== undefined && !trusts.includes('new')) {
    // The certificate first: without it the CA does not exist, and the CA that did its work before does it again.
    const isThere = (await lookAt(crt)) !== undefined || (await lookAt(key)) !== undefined
    await rm(crt, {force: true})
    await removeSecret(key)
    return isThere
  }
  const order = [signs, ...trusts.filter((which) => which !== signs)]
  const held = await Promise.all(order.map((which) => readHeld(plane, unit, which)))
  const [signing] = held
  if (!signing) throw lost(`the CA "${unit.id}"`)
  const isBoth = trusts.length > 1
  const cross = unit.id === CLUSTER_CA && isBoth ? await readCross(plane) : undefined
  const certificates = [...held.flatMap((one) => one?.bundle ?? []), ...(cross ? [cross] : [])]
  const certificatePem = encodeBundle(certificates)
  const {keyPem} = signing
  const found = await readPair(certDir, spec.place)
  if (found?.certificatePem === certificatePem && found.keyPem === keyPem) return false
  const note = await notesFor(plane, unit, signs)
  if (keyPem === undefined) {
    // Without a key, the CA is one whose key is on another machine. Removed first, so that it never meets another certificate.
    await removeSecret(key)
    await note?.([{path: crt, data: certificatePem}])
    await writeFileSafely(crt, certificatePem)
    return true
  }
  await replaceSecret(key, () => replacePair(certDir, spec.place, {certificatePem, keyPem}, note))
  return true
}

async function arrangeKeys(
  plane: Plane,
  unit: Unit,
  {signs, trusts}: Arrangement,
): Promise<boolean> {
  const certDir = certDirOf(plane)
  const {id, privateKey, publicKey} = SERVICE_ACCOUNT_KEYS
  const order = [signs, ...trusts.filter((which) => which !== signs)]
  const held = await Promise.all(order.map((which) => readHeldKeys(plane, which)))
  const [signing] = held
  if (!signing) throw lost('the key of service accounts')
  const files = [
    {name: privateKey, data: signing.privatePem},
    {name: publicKey, data: held.map((one) => one?.publicPem ?? '').join('')},
  ]
  const paths = files.map(({name}) => join(certDir, name))
  const present = await Promise.all(paths.map((path) => readFileIfThere(path)))
  if (present.every((content, index) => content?.toString() === files[index]?.data)) return false
  const note = await notesFor(plane, unit, signs)
  await note?.(files.map(({name, data}) => ({path: join(certDir, name), data})))
  await replaceSecret(join(certDir, privateKey), () => replaceFiles(certDir, id, files))
  return true
}
