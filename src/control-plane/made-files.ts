import {createHash} from 'node:crypto'
import {isAbsolute, join, relative} from 'node:path'
import {TrustError} from '../errors.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import type {BeforeWrite} from '../pki/pair-store.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** For each file that trustadm created, the hashes of what it may contain: the current content, and what was about to replace it. */
export type MadeFiles = ReadonlyMap<string, readonly string[]>

type Home = Pick<Plane, 'dir'>

const hashOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

/** Paths are relative to the control plane's folder, so that the folder can be moved. */
function labelOf({dir}: Home, path: string): string {
  const within = relative(dir, path)
  return within.startsWith('..') || isAbsolute(within) ? path : within
}

const isHashes = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

function parse(content: string, path: string): MadeFiles {
  try {
    const {files} = JSON.parse(content) as {files: Record<string, unknown>}
    const entries = Object.entries(files)
    if (entries.every((entry): entry is [string, string[]] => isHashes(entry[1]))) {
      return new Map(entries)
    }
  } catch {
    // Reported below.
  }
  throw new TrustError(
    'CONFIG_INVALID',
    `${path} is not a valid list of the files that trustadm created`,
    {
      hints: [
        'restore it from a backup, or remove it: then all certificates and keys count as provided by you',
      ],
    },
  )
}

export async function readMadeFiles(plane: Home): Promise<MadeFiles> {
  const path = fileOf(plane, 'manifest')
  const content = await readFileIfThere(path)
  return content ? parse(content.toString(), path) : new Map()
}

/** Records files before they are written. The caller holds the lock of the control plane. */
export const notesMade =
  (plane: Home): BeforeWrite =>
  async (files) => {
    const made = new Map(await readMadeFiles(plane))
    for (const {path, data} of files) {
      const label = labelOf(plane, path)
      const present = await readFileIfThere(path)
      const still = present === undefined ? undefined : hashOf(present)
      const kept = (made.get(label) ?? []).filter((hash) => hash === still)
      made.set(label, [...new Set([...kept, hashOf(data)])])
    }
    const document = {files: Object.fromEntries(made)}
    await writeFileSafely(fileOf(plane, 'manifest'), `${JSON.stringify(document, null, 2)}\n`)
  }

/** Whether trustadm has created a file, whatever it contains now. */
export const wasMade = (plane: Home, made: MadeFiles, path: string): boolean =>
  made.has(labelOf(plane, path))

/** Whether a file is as trustadm created it; undefined for one that was never recorded. */
export async function isAsMade(
  plane: Home,
  made: MadeFiles,
  path: string,
): Promise<boolean | undefined> {
  const hashes = made.get(labelOf(plane, path))
  if (hashes === undefined) return undefined
  const content = await readFileIfThere(path)
  return content !== undefined && hashes.includes(hashOf(content))
}

/** Copies files to a backup folder before they are replaced, and returns the folder. */
export async function backUp(plane: Home, files: readonly string[], now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const folder = join(fileOf(plane, 'backups'), stamp)
  await ensureFolder(folder)
  for (const file of files) {
    const content = await readFileIfThere(file)
    if (content)
      await writeFileSafely(join(folder, labelOf(plane, file).replaceAll('/', '_')), content)
  }
  return folder
}
