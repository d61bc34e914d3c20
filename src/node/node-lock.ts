import {ensureFolder} from '../fs/folders.ts'
import {lockFolderWhenFree} from '../fs/folder-lock.ts'
import {nodeFile} from './node-files.ts'

/** The right to change the folder of a node: one process at a time has it. */
export interface NodeLock {
  /** Waits for it, unless it is held already. Nothing is written before. */
  hold(): Promise<void>
  release(): Promise<void>
}

export function nodeLock(dir: string, tell: (line: string) => void): NodeLock {
  let held: Promise<() => Promise<void>> | undefined
  const take = async () => {
    await ensureFolder(dir)
    return await lockFolderWhenFree(nodeFile(dir, 'lock'), {what: 'the same node', tell})
  }
  return {
    hold: async () => {
      await (held ??= take())
    },
    release: async () => {
      const release = await held?.catch(() => undefined)
      held = undefined
      await release?.()
    },
  }
}
