import {randomBytes} from 'node:crypto'
import {lstat, open, readdir, rm, rmdir, unlink} from 'node:fs/promises'
import {join} from 'node:path'
import {descriptorPath, OPEN_FOLDER, SafeFolder} from './folders.ts'

const id = (): string => randomBytes(8).toString('hex')
/** Not its pid: another container that shares the folder may have a process with the same one. */
const OWN_PROCESS = id()
/** Names in use by this process. */
const inUse = new Set<string>()
/** Earlier versions had the pid there. */
const PATTERN = /^\.(?<file>.+)\.(?<writer>\d+|[0-9a-f]{16})-[0-9a-f]{16}\.tmp$/

/**
 * An unused name in the folder of a file, and its path there; to be released once it is renamed or removed. A writer that may be killed
 * can have an id which outlives its process.
 */
export function takeTemporary(
  folder: string,
  name: string,
  writer = OWN_PROCESS,
): {name: string; path: string; release: () => void} {
  const own = `.${name}.${writer}-${id()}.tmp`
  inUse.add(own)
  return {
    name: own,
    path: join(folder, own),
    release: () => {
      inUse.delete(own)
    },
  }
}

/**
 * Removes what killed writers have left in the folder. Whether a writer still lives cannot be seen: the caller must hold the lock of
 * the folder. `others` are the names of files that are written without it. A folder that is not there, or not safe, is left alone.
 */
export async function removeLeftovers(path: string, others: readonly string[] = []): Promise<void> {
  const folder = await SafeFolder.open(path).catch(() => undefined)
  try {
    if (folder) await removeTemporary(folder, ({file}) => !others.includes(file))
  } finally {
    await folder?.close()
  }
}

/** What matches, and is not in use by this process. What cannot be removed stays: nothing depends on it. */
export async function removeTemporary(
  folder: SafeFolder,
  matches: (of: {file: string; writer: string}) => boolean,
): Promise<void> {
  for (const name of await readdir(folder.at('.')).catch(() => [])) {
    const {file = '', writer = ''} = PATTERN.exec(name)?.groups ?? {}
    if (file === '' || inUse.has(name) || !matches({file, writer})) continue
    await removeOwn(folder.at(name))
  }
}

const GROUP_OR_OTHERS_WRITE = 0o022

const isOwn = ({uid}: {uid: number}): boolean => uid === (process.geteuid?.() ?? uid)

/** Removes a file of this user, or a folder with files alone that nobody else can put something into. Whatever it cannot remove stays. */
export async function removeOwn(path: string): Promise<void> {
  await tryToRemove(path).catch(() => undefined)
}

async function tryToRemove(path: string): Promise<void> {
  const stats = await lstat(path)
  if (!isOwn(stats)) return
  if (!stats.isDirectory()) return await unlink(path)
  const handle = await open(path, OPEN_FOLDER)
  try {
    const opened = await handle.stat()
    if (!isOwn(opened) || (opened.mode & GROUP_OR_OTHERS_WRITE) !== 0) return
    const inside = descriptorPath(handle.fd, path)
    for (const name of await readdir(inside)) await rm(join(inside, name), {force: true})
  } finally {
    await handle.close()
  }
  await rmdir(path)
}
