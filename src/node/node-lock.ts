import {basename} from 'node:path'
import {ensureFolder} from '../fs/folders.ts'
import {lockFolderWhenFree, lockHolder, LONGEST_WAIT} from '../fs/folder-lock.ts'
import {removeLeftovers} from '../fs/temporary-names.ts'
import {sleep} from '../runtime.ts'
import {isKubeletsFolder, nodeFile} from './node-files.ts'

/** The lock of a node's folder: one process at a time may change it. */
export interface NodeLock {
  /** Waits for the lock, unless this process already holds it; the signal ends that. Nothing is written before. */
  hold(signal?: AbortSignal): Promise<void>
  release(): Promise<void>
  /** From now on, tells this to who asks while it is held. */
  answer(give: () => string): void
}

/** Others may look into the folder of a kubelet, as static pods that do not run as root. */
const ensureNodeFolder = async (dir: string): Promise<void> =>
  await ensureFolder(dir, {repair: !(await isKubeletsFolder(dir))})

type Take = (
  signal: AbortSignal | undefined,
  answer: () => string | undefined,
) => Promise<() => Promise<void>>

function heldOnce(dir: string, take: Take): NodeLock {
  let held: Promise<() => Promise<void>> | undefined
  let given: (() => string) | undefined
  const begin = async (signal: AbortSignal | undefined) => {
    const release = await take(signal, () => given?.())
    // Anybody may ask for a renewal.
    const others = [basename(nodeFile(dir, 'renewRequest'))]
    for (const folder of [dir, nodeFile(dir, 'pki')]) await removeLeftovers(folder, others)
    return release
  }
  return {
    hold: async (signal) => {
      await (held ??= begin(signal))
    },
    release: async () => {
      const release = await held?.catch(() => undefined)
      held = undefined
      given = undefined
      await release?.()
    },
    answer(give) {
      given = give
    },
  }
}

const WHAT = 'the same node'

export const nodeLock = (dir: string, tell: (line: string) => void): NodeLock =>
  heldOnce(dir, async (signal, answer) => {
    await ensureNodeFolder(dir)
    return await lockFolderWhenFree(nodeFile(dir, 'lock'), {what: WHAT, tell, signal, answer})
  })

/** The lock as `join` takes it: a running `node run` lets go of the folder, and takes it again afterwards. */
export const joinLock = (
  dir: string,
  tell: (line: string) => void,
  longest: () => number | undefined = () => undefined,
): NodeLock =>
  heldOnce(dir, async (signal) => {
    const most = longest() ?? LONGEST_WAIT
    const end = performance.now() + most
    await ensureNodeFolder(dir)
    await ensureFolder(nodeFile(dir, 'lock'))
    const wait = {what: WHAT, tell, signal}
    const leave = await lockFolderWhenFree(nodeFile(dir, 'joinLock'), {...wait, longest: most})
    try {
      const left = end - performance.now()
      const release = await lockFolderWhenFree(nodeFile(dir, 'lock'), {...wait, longest: left})
      return async () => {
        await release()
        await leave()
      }
    } catch (error) {
      await leave()
      throw error
    }
  })

/** Whether a `join` works in the folder, or waits for it. A killed one does not count: its socket is closed. */
export const isJoining = async (dir: string): Promise<boolean> =>
  (await lockHolder(nodeFile(dir, 'joinLock'))) !== undefined

const PAUSE = 100

export async function joinEnded(dir: string, signal: AbortSignal): Promise<void> {
  while (await isJoining(dir)) await sleep(PAUSE, signal)
}
