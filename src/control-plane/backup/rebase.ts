import {isAbsolute, join, relative} from 'node:path'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import type {ArchiveHeader} from '../../storage/archive-frames.ts'
import {fileOf} from '../config/plane.ts'
import {loadPlane, savePlane} from '../config/stored.ts'

/** The part of a path below a folder; undefined if it is elsewhere. */
function below(folder: string, path: string): string | undefined {
  const part = relative(folder, path)
  return part.startsWith('..') || isAbsolute(part) ? undefined : part
}

/** Replaces paths in the settings, however deep. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, map)]))
}

/**
 * Adapts settings and the list of created files to the folder that a control plane is restored to. Its certificates and keys are in
 * `pki` of that folder from now on, wherever they were.
 */
export async function rebase(
  staging: string,
  dir: string,
  {dir: oldDir = dir, certificatesDir: oldCertDir = join(oldDir, 'pki')}: ArchiveHeader,
): Promise<void> {
  const certDir = join(dir, 'pki')
  if (oldDir === dir && oldCertDir === certDir) return
  const moved = (path: string): string => {
    if (!isAbsolute(path)) return path
    const inCerts = below(oldCertDir, path)
    if (inCerts !== undefined) return join(certDir, inCerts)
    const inDir = below(oldDir, path)
    return inDir === undefined ? path : join(dir, inDir)
  }
  const plane = await loadPlane(staging)
  const settings = mapTexts(plane.settings, moved) as typeof plane.settings
  await savePlane({...plane, settings: {...settings, certificatesDir: certDir}})
  await relabel(staging, (label) => {
    const path = moved(join(isAbsolute(label) ? '/' : oldDir, label))
    return below(dir, path) ?? path
  })
}

async function relabel(staging: string, labelOf: (label: string) => string): Promise<void> {
  const path = fileOf({dir: staging}, 'manifest')
  const content = await readFileIfThere(path)
  if (!content) return
  const {files} = JSON.parse(content.toString()) as {files: Record<string, unknown>}
  const entries = Object.entries(files).map(([label, hashes]) => [labelOf(label), hashes])
  const document = {files: Object.fromEntries(entries) as unknown}
  await writeFileSafely(path, `${JSON.stringify(document, null, 2)}\n`)
}
