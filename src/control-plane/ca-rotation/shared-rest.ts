import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {removeSecret, replaceSecret} from '../../fs/shred.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {isMatching, readPair, replacePair} from '../../pki/pair-store.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {notesMade} from '../made-files.ts'
import type {SharedRotation} from './sealed-rotation.ts'
import {unitsOf, type Unit} from './units.ts'

/** Writes a CA as it is in use elsewhere. Returns whether it was another one here. */
async function writeAuthority(
  plane: Plane,
  {spec}: Unit,
  certificatePem: string,
  keyPem: string | undefined,
): Promise<boolean> {
  if (!spec) return false
  const certDir = certDirOf(plane)
  const [crt, key] = [join(certDir, spec.place.crt), join(certDir, spec.place.key)]
  const found = await readPair(certDir, spec.place)
  const isSame = found?.certificatePem === certificatePem
  if (isSame && (keyPem === undefined || found.keyPem === keyPem)) return false
  const note = notesMade(plane)
  if (keyPem !== undefined) {
    await replaceSecret(key, () => replacePair(certDir, spec.place, {certificatePem, keyPem}, note))
    return true
  }
  if (!isMatching({...found, certificatePem})) await removeSecret(key)
  await note([{path: crt, data: certificatePem}])
  await writeFileSafely(crt, certificatePem)
  return true
}

async function writeKeys(plane: Plane, privatePem: string, publicPem: string): Promise<boolean> {
  const certDir = certDirOf(plane)
  const {id, privateKey, publicKey} = SERVICE_ACCOUNT_KEYS
  const files = [
    {name: privateKey, data: privatePem},
    {name: publicKey, data: publicPem},
  ]
  const found = await Promise.all(files.map(({name}) => readFileIfThere(join(certDir, name))))
  if (found.every((content, index) => content?.toString() === files[index]?.data)) return false
  await notesMade(plane)(files.map(({name, data}) => ({path: join(certDir, name), data})))
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
  isArranged: boolean,
): Promise<string[]> {
  const rotates = (id: string) => isArranged && journal.units.some((unit) => unit.id === id)
  const changed: string[] = []
  for (const unit of await unitsOf(plane)) {
    const {id, spec, separatedFrom} = unit
    // That of an etcd is on the machines of that etcd.
    if (rotates(id) || spec?.when === 'external-etcd') continue
    const [certificatePem, keyPem] = [files[`rest/${id}.crt`], files[`rest/${id}.key`]]
    const publicPem = files[`rest/${SERVICE_ACCOUNT_KEYS.publicKey}`]
    const isChanged = spec
      ? certificatePem !== undefined
        ? await writeAuthority(plane, unit, certificatePem, keyPem)
        : separatedFrom === undefined && (await removeAuthority(plane, unit))
      : keyPem !== undefined && publicPem !== undefined
        ? await writeKeys(plane, keyPem, publicPem)
        : false
    if (isChanged) changed.push(id)
  }
  return changed
}
