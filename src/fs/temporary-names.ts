import {randomBytes} from 'node:crypto'
import {readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {systemCode} from '../errors.ts'

/** Names in use by this process, to distinguish them from leftovers of an earlier process with the same pid. */
const inUse = new Set<string>()
const PATTERN = /^\..+\.(\d+)-[0-9a-f]{16}\.tmp$/

/** An unused path in the folder of `path`; to be released once it is renamed or removed. */
export function takeTemporary(folder: string, name: string): {path: string; release: () => void} {
  const path = join(folder, `.${name}.${process.pid}-${randomBytes(8).toString('hex')}.tmp`)
  inUse.add(path)
  return {
    path,
    release: () => {
      inUse.delete(path)
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

/** Removes leftovers of killed writers from the folder. What cannot be removed stays. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, owner] = PATTERN.exec(name) ?? []
    if (owner === undefined) continue
    const pid = Number(owner)
    const path = join(folder, name)
    const isLive = pid === process.pid ? inUse.has(path) : isRunning(pid)
    if (!isLive) await rm(path, {recursive: true, force: true}).catch(() => undefined)
  }
}
