import {createHash} from 'node:crypto'
import {stat} from 'node:fs/promises'
import {ensureFolder} from '../fs/folders.ts'
import {lockFolderWhenFree} from '../fs/folder-lock.ts'
import {removeLeftovers} from '../fs/temporary-names.ts'
import {certDirOf, FILES, fileOf} from './config/plane.ts'
import {findPlane} from './config/stored.ts'

/** Prints a line for a user who waits. */
export type Tell = (line: string) => void

/** The server does not hold this lock. */
const WRITTEN_BY_SERVER = [
  FILES.server,
  FILES.startFailure,
  FILES.seenClients,
  `${FILES.issuanceKey}.new`,
]

/**
 * Lets only one command at a time change the control plane of a folder; others wait. Two that create certificates and settings at
 * the same time would mix them up.
 */
export async function exclusively<Result>(
  dir: string,
  work: () => Promise<Result>,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
): Promise<Result> {
  await ensureFolder(dir)
  const release = await lockFolderWhenFree(fileOf({dir}, 'lock'), {
    what: 'the same control plane',
    tell,
    signal,
  })
  try {
    await removeLeftovers(dir, WRITTEN_BY_SERVER)
    const plane = await findPlane(dir).catch(() => undefined)
    if (plane) await removeLeftovers(certDirOf(plane))
    return await work()
  } finally {
    await release()
  }
}

/** Tells the lock of this folder from that of any other folder, on any machine. */
export async function lockId(dir: string): Promise<string> {
  const {dev, ino, birthtimeNs} = await stat(fileOf({dir}, 'lock'), {bigint: true})
  return createHash('sha256').update(`${dev} ${ino} ${birthtimeNs}`).digest('hex').slice(0, 16)
}
