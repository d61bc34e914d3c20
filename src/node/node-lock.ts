import {ensureFolder} from '../fs/folders.ts'
import {lockFolderWhenFree} from '../fs/folder-lock.ts'
import {nodeFile} from './node-files.ts'

/** The lock of a node's folder: one process at a time may change it. */
export interface NodeLock {
  /** Waits for the lock, unless this process already holds it; the signal ends that. Nothing is written before. */
  hold(signal?: AbortSignal): Promise<void>
  release(): Promise<void>
}

export function nodeLock(dir: string, tell: (line: string) => void): NodeLock {
  let held: Promise<() => Promise<void>> | undefined
  const take = async (signal: AbortSignal | undefined) => {
    await ensureFolder(dir)
    return await lockFolderWhenFree(nodeFile(dir, 'lock'), {what: 'the same node', tell, signal})
  }
  return {
    hold: async (signal) => {
      await (held ??= take(signal))
    },
    release: async () => {
      const release = await held?.catch(() => undefined)
      held = undefined
      await release?.()
    },
  }
}
