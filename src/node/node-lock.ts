import {ensureFolder} from '../pki/folders.ts'
import {takeTurn, type Tell} from '../storage/turn.ts'
import {nodeFile} from './node-files.ts'

/** The right to change the folder of a node, which one process has at a time. */
export interface Turn {
  /** Waits for it; what is held already is kept. Nothing is written before this. */
  hold(): Promise<void>
  release(): Promise<void>
}

export function turnIn(dir: string, tell: Tell): Turn {
  let held: Promise<() => Promise<void>> | undefined
  const take = async () => {
    await ensureFolder(dir)
    return await takeTurn(nodeFile(dir, 'lock'), {what: 'the same node', tell})
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
