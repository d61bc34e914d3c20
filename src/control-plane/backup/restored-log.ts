import {copyFile} from 'node:fs/promises'
import {FileIssuanceLog} from '../../controllers/signing/file-issuance-log.ts'
import {readLogKey} from '../../controllers/signing/log-key.ts'
import {NO_LINE} from '../../controllers/signing/log-line.ts'
import {readLog} from '../../controllers/signing/read-log.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {ensureFolder} from '../../fs/folders.ts'
import type {Clock} from '../../runtime.ts'
import {fileOf} from '../config/plane.ts'
import {stagingOf} from './plane-files.ts'

/**
 * A newer log of the same control plane is kept: what was issued after the backup stays known. `homes` are the folders in which it may
 * be: an interrupted restore has moved it.
 */
export async function keepNewerLog(dir: string, homes: readonly string[]): Promise<boolean> {
  const staging = stagingOf(dir)
  const restored = fileOf({dir: staging}, 'issuances')
  const key = await readLogKey(fileOf({dir: staging}, 'issuanceKey'))
  if (!key || !(await lookAt(restored))) return false
  let isNewer = false
  for (const home of homes) {
    const present = fileOf({dir: home}, 'issuances')
    if (!(await lookAt(present)) || !(await continues(present, restored, key))) continue
    await copyFile(present, restored)
    isNewer = true
  }
  return isNewer
}

/** Whether a log has all lines of another, and more. */
async function continues(present: string, restored: string, key: Buffer): Promise<boolean> {
  try {
    const {head} = await readLog(restored, {key})
    if (head === NO_LINE) return false
    return (await readLog(present, {key, expectedHead: head})).head !== head
  } catch {
    // Of another control plane, or damaged: it is kept aside with everything else.
    return false
  }
}

/** Adds a line to the issuance log of a folder that says what happened. */
export async function noteRestore(dir: string, reason: string, clock: Clock): Promise<void> {
  await ensureFolder(fileOf({dir}, 'logs'))
  const log = new FileIssuanceLog(fileOf({dir}, 'issuances'), clock, fileOf({dir}, 'issuanceKey'))
  try {
    await log.note({decision: 'restored', reason})
  } finally {
    await log.close()
  }
}
