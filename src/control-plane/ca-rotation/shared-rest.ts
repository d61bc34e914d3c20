import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import {replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {removeSecret, replaceSecret} from '../../fs/shred.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {isMatching, readPair, replacePair, type BeforeWrite} from '../../pki/pair-store.ts'
import type {Clock} from '../../runtime.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {backUp} from '../back-up.ts'
import {notesMade} from '../../fs/made-files.ts'
import {notesOurs} from './generations.ts'
import type {SharedRotation} from './sealed-rotation.ts'
import {unitsOf, type Unit} from './units.ts'

interface RestOptions {
  /** Whether the CAs that rotate are arranged apart from these. */
  isArranged: boolean
  clock: Clock
  log: (line: string) => void
}

/** What is noted before these files are replaced. What an operator has provided stays the operator's, and is copied aside first. */
async function noteFor(
  plane: Plane,
  id: string,
  names: readonly string[],
  {clock, log}: RestOptions,
): Promise<BeforeWrite | undefined> {
  const paths = names.map((name) => join(certDirOf(plane), name))
  const found = await Promise.all(paths.map((path) => lookAt(path)))
  if (found.every((one) => one === undefined)) return notesMade(plane)
  const note = await notesOurs(
    plane,
    id,
    names.filter((_, index) => found[index]),
  )
  if (note) return note
  const folder = await backUp(plane, paths, clock.now())
  log(`"${id}" is another one on the other servers; yours was copied to ${folder}`)
  return undefined
}

/** Writes a CA as it is in use elsewhere. Returns whether it was another one here. */
async function writeAuthority(
  plane: Plane,
  {id, spec}: Unit,
  certificatePem: string,
  keyPem: string | undefined,
  options: RestOptions,
): Promise<boolean> {
  if (!spec) return false
  const certDir = certDirOf(plane)
  const [crt, key] = [join(certDir, spec.place.crt), join(certDir, spec.place.key)]
  const found = await readPair(certDir, spec.place)
  const isSame = found?.certificatePem === certificatePem
  if (isSame && (keyPem === undefined || found.keyPem === keyPem)) return false
  const note = await noteFor(plane, id, [spec.place.crt, spec.place.key], options)
  if (keyPem !== undefined) {
    await replaceSecret(key, () => replacePair(certDir, spec.place, {certificatePem, keyPem}, note))
    return true
  }
  if (!isMatching({...found, certificatePem})) await removeSecret(key)
  await note?.([{path: crt, data: certificatePem}])
  await writeFileSafely(crt, certificatePem)
  return true
}

async function writeKeys(
  plane: Plane,
  privatePem: string,
  publicPem: string,
  options: RestOptions,
): Promise<boolean> {
  const certDir = certDirOf(plane)
  const {id, privateKey, publicKey} = SERVICE_ACCOUNT_KEYS
  const files = [
    {name: privateKey, data: privatePem},
    {name: publicKey, data: publicPem},
  ]
  const found = await Promise.all(files.map(({name}) => readFileIfThere(join(certDir, name))))
  if (found.every((content, index) => content?.toString() === files[index]?.data)) return false
  const note = await noteFor(plane, id, [privateKey, publicKey], options)
  await note?.(files.map(({name, data}) => ({path: join(certDir, name), data})))
  await replaceSecret(join(certDir, privateKey), () => replaceFiles(certDir, id, files))
  return true
}

/** A CA that others do not have: an abort that this machine has missed removed it. */
async function removeAuthority(plane: Plane, {spec}: Unit): Promise<boolean> {
  if (spec?.when !== 'separate-clients') return false
  // The certificate first, as everywhere: without it the CA does not exist.
  await rm(join(certDirOf(plane), spec.place.crt), {force: true})
  await removeSecret(join(certDirOf(plane), spec.place.key))
  return true
}

/** Arranges the CAs that the rotation does not change, if this machine has missed an earlier one. Returns those that were others here. */
export async function writeRest(
  plane: Plane,
  {files, journal}: SharedRotation,
  options: RestOptions,
): Promise<string[]> {
  const rotates = (id: string) => options.isArranged && journal.units.some((unit) => unit.id === id)
  const changed: string[] = []
  for (const unit of await unitsOf(plane)) {
    const {id, spec, separatedFrom} = unit
    // That of an etcd is on the machines of that etcd.
    if (rotates(id) || spec?.when === 'external-etcd') continue
    const [certificatePem, keyPem] = [files[`rest/${id}.crt`], files[`rest/${id}.key`]]
    const publicPem = files[`rest/${SERVICE_ACCOUNT_KEYS.publicKey}`]
    const isChanged = spec
      ? certificatePem !== undefined
        ? await writeAuthority(plane, unit, certificatePem, keyPem, options)
        : separatedFrom === undefined && (await removeAuthority(plane, unit))
      : keyPem !== undefined && publicPem !== undefined
        ? await writeKeys(plane, keyPem, publicPem, options)
        : false
    if (isChanged) changed.push(id)
  }
  return changed
}
