import {createHash} from 'node:crypto'
import {isAbsolute, join, relative} from 'node:path'
import {TrustError} from '../errors.ts'
import {readFileIfThere, writeFileSafely} from './files.ts'

/** For each file that trustadm created, the hashes of what it may contain: the current content, and what was about to replace it. */
export type MadeFiles = ReadonlyMap<string, readonly string[]>

/** A folder with the list of the files that trustadm created, in it and for it elsewhere. */
interface Home {
  dir: string
  /** The name of the list. */
  manifest?: string
}

const listOf = ({dir, manifest = 'manifest.json'}: Home): string => join(dir, manifest)

const hashOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

/** Paths are relative to the folder, so that it can be moved. */
export function labelOf({dir}: Home, path: string): string {
  const within = relative(dir, path)
  return within.startsWith('..') || isAbsolute(within) ? path : within
}

const isHashes = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

interface Document {
  files: Record<string, string[]>
  /** The node of the folder, if it is that of a node. */
  nodeName?: string
}

function parse(content: string, path: string): Document {
  try {
    const document = JSON.parse(content) as Document
    if (Object.values<unknown>(document.files).every(isHashes)) return document
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

/** The list; undefined if there is none. */
export async function readManifest(home: Home): Promise<Document | undefined> {
  const path = listOf(home)
  const content = await readFileIfThere(path)
  return content && parse(content.toString(), path)
}

export async function readMadeFiles(home: Home): Promise<MadeFiles> {
  return new Map(Object.entries((await readManifest(home))?.files ?? {}))
}

let last: Promise<unknown> = Promise.resolve()

/** One change after the other: a process may write several files at the same time. */
async function changeManifest(
  home: Home,
  change: (document: Document) => Promise<Document> | Document,
): Promise<void> {
  const work = async () => {
    const document = await change((await readManifest(home)) ?? {files: {}})
    await writeFileSafely(listOf(home), `${JSON.stringify(document, null, 2)}\n`)
  }
  const done = last.then(work, work)
  last = done.catch(() => undefined)
  await done
}

/** Records files before they are written. The caller holds the lock of the folder. */
export const notesMade =
  (home: Home) =>
  async (files: readonly {path: string; data: string}[]): Promise<void> => {
    await changeManifest(home, async (document) => {
      const made = new Map(Object.entries(document.files))
      for (const {path, data} of files) {
        const label = labelOf(home, path)
        const present = await readFileIfThere(path)
        const still = present === undefined ? undefined : hashOf(present)
        const kept = (made.get(label) ?? []).filter((hash) => hash === still)
        made.set(label, [...new Set([...kept, hashOf(data)])])
      }
      return {...document, files: Object.fromEntries(made)}
    })
  }

/** Records the name of the node that the folder belongs to. */
export async function noteNodeName(home: Home, nodeName: string): Promise<void> {
  if ((await readManifest(home))?.nodeName === nodeName) return
  await changeManifest(home, (document) => ({...document, nodeName}))
}

/** A file that was removed, and whose name is not used again. */
export async function forgetMade(home: Home, path: string): Promise<void> {
  await changeManifest(home, (document) => {
    const files = Object.entries(document.files).filter(([label]) => label !== labelOf(home, path))
    return {...document, files: Object.fromEntries(files)}
  })
}

/** Whether trustadm has created a file, whatever it contains now. */
export const wasMade = (home: Home, made: MadeFiles, path: string): boolean =>
  made.has(labelOf(home, path))

/** Whether a file is as trustadm created it; undefined for one that was never recorded. */
export async function isAsMade(
  home: Home,
  made: MadeFiles,
  path: string,
): Promise<boolean | undefined> {
  const hashes = made.get(labelOf(home, path))
  if (hashes === undefined) return undefined
  const content = await readFileIfThere(path)
  return content !== undefined && hashes.includes(hashOf(content))
}
