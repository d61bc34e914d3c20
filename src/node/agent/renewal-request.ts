import {rm} from 'node:fs/promises'
import {lookAt} from '../../fs/file-checks.ts'
import {writeFileSafely} from '../../fs/files.ts'
import {sleep} from '../../runtime.ts'
import {nodeFile} from '../node-files.ts'
import type {Duty} from './duties.ts'

const PAUSE = 100

/**
 * Lets another command ask a running agent to renew now. A file, not a signal: it works across containers that share the folder, where
 * a process id may be that of another process.
 */
export function renewalRequests(dir: string, renew: (signal: AbortSignal) => Promise<void>): Duty {
  const file = nodeFile(dir, 'renewRequest')
  return {
    name: 'renewing on request',
    nextAt: () => new Date(0),
    isDue: async () => (await lookAt(file)) !== undefined,
    work: async (signal) => {
      try {
        await renew(signal)
      } finally {
        // Last: who asked reads the outcome then.
        await rm(file, {force: true})
      }
    },
  }
}

/**
 * Asks the process that holds the folder to renew, and waits until it has tried. False if it ended without that. `onWait` is called
 * again and again meanwhile: an approval may take long.
 */
export async function requestRenewal(
  dir: string,
  isHeld: () => Promise<boolean>,
  onWait: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const file = nodeFile(dir, 'renewRequest')
  await writeFileSafely(file, '')
  while (await isHeld()) {
    if (!(await lookAt(file))) return true
    await onWait()
    await sleep(PAUSE)
  }
  const isAnswered = !(await lookAt(file))
  await rm(file, {force: true})
  return isAnswered
}
