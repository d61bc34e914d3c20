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

/** A newer log of the same control plane is kept: what was issued after the backup stays known. */
export async function keepNewerLog(dir: string): Promise<boolean> {
  const staging = stagingOf(dir)
  const [restored, present] = [fileOf({dir: staging}, 'issuances'), fileOf({dir}, 'issuances')]
  const key = await readLogKey(fileOf({dir: staging}, 'issuanceKey'))
  if (!key || !(await lookAt(present)) || !(await lookAt(restored))) return false
  try {
    const {head} = await readLog(restored, {key})
    if (head === NO_LINE) return false
    const newer = await readLog(present, {key, expectedHead: head})
    if (newer.head === head) return false
  } catch {
    // Of another control plane, or damaged: it is kept aside with everything else.
    return false
  }
  await copyFile(present, restored)
  return true
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
