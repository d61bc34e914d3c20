import {readdir, rm, rmdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, systemCode} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {removeSecret} from '../../fs/shred.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {certDirOf, type Plane, rotationFolder} from '../config/plane.ts'
import {notesMade} from '../../fs/made-files.ts'
import {CERTS_SECRET} from '../shared-certs.ts'
import type {Which} from './generations.ts'

/** Where the certificates of CAs that were replaced are kept, for audits. Nothing reads them. */
const archiveFolder = (plane: Plane): string => join(certDirOf(plane), 'archive')

async function archive(plane: Plane, path: string, name: string): Promise<void> {
  const text = (await readFileIfThere(path))?.toString()
  if (text === undefined) return
  const {fingerprint} = parseCertificate(text)
  const folder = archiveFolder(plane)
  await ensureFolder(folder)
  const target = join(folder, `${name.replace(/\.crt$/, '')}-${fingerprint.slice(0, 16)}.crt`)
  await notesMade(plane)([{path: target, data: text}])
  await writeFileSafely(target, text)
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

/**
 * Destroys a generation, and with it the folder of the rotation. Keys go first. The certificates of old CAs are archived; those of a
 * rotation that was given up are not.
 */
export async function removeGenerations(plane: Plane, generation: Which): Promise<void> {
  const root = rotationFolder(plane)
  if (!(await lookAt(root))) return
  for (const which of [generation, 'old', 'new'] as const) {
    const folder = join(root, which)
    const names = (await lookAt(folder)) ? await readdir(folder) : []
    for (const name of names.filter((one) => one.endsWith('.key')))
      await removeSecret(join(folder, name))
    for (const name of names.filter((one) => !one.endsWith('.key'))) {
      const isArchived = which === 'old' && generation === 'old' && name.endsWith('.crt')
      if (isArchived) await archive(plane, join(folder, name), name)
      await rm(join(folder, name), {force: true, recursive: true})
    }
    await removeFolder(folder)
  }
  for (const name of await readdir(root)) await rm(join(root, name), {force: true, recursive: true})
  await removeFolder(root)
  await syncFolder(certDirOf(plane))
}

/** Deletes what `init --upload-certs` has shared for two hours: it has the keys of CAs that leave, encrypted. */
export async function deleteUploadedCopies({secrets}: Pick<ApiClient, 'secrets'>): Promise<void> {
  try {
    await secrets.delete(CERTS_SECRET)
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error
  }
}
