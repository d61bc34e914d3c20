import {TrustError, hasCode, messageOf} from '../../errors.ts'
import type {FoundLog} from './log-file.ts'
import type {LogKey} from './log-key.ts'
import {NO_LINE, macVerdict, type LogNote} from './log-line.ts'
import {readLog} from './read-log.ts'

/** What a process knows of a log when it opens it. */
export interface Knowledge extends LogKey {
  /** Its end as this process has last seen it; undefined at the start. */
  known: {hash: string; inode: bigint} | undefined
}

/** In the message itself: a server's log shows no hints. */
const NEXT = 'no certificate is issued until the log is put back, or moved away to begin a new one'
const HINTS = ['look at it with "trustadm certificate log --verify", and compare it with a copy']

const tampered = (path: string, why: string): TrustError =>
  new TrustError('ISSUANCE_LOG_BROKEN', `the issuance log ${path} ${why}; ${NEXT}`, {
    hints: HINTS,
    facts: {file: path},
  })

/** The whole log, where somebody has touched it while this process had it: what was written has to be in it. */
async function requireWritten(path: string, head: string, key: Buffer): Promise<void> {
  try {
    await readLog(path, {expectedHead: head, key})
  } catch (error) {
    if (!hasCode(error, 'ISSUANCE_LOG_BROKEN')) throw error
    throw tampered(path, `was cut off or rewritten while it was in use: ${messageOf(error)}`)
  }
}

/** Refuses a log that is not as it was written, and answers what is to be noted in it. */
export async function checkFound(
  path: string,
  {line, torn, inode}: FoundLog,
  {known, key, isNew}: Knowledge,
): Promise<LogNote[]> {
  const notes: LogNote[] = []
  const isEmpty = line === undefined && torn === 0
  const hasWritten = known !== undefined && known.hash !== NO_LINE
  if (hasWritten && isEmpty && known.inode !== inode) {
    const reason = `the log before this one is no longer in its place; its last line has the hash ${known.hash}`
    return [{decision: 'began', reason}]
  }
  if (hasWritten) await requireWritten(path, known.hash, key)
  const mac = line === undefined ? 'right' : macVerdict(line, key)
  if (mac === 'wrong' || (mac === 'none' && !isNew)) {
    throw tampered(path, 'ends with a line that was not written with its key')
  }
  if (torn > 0) {
    const reason = `${torn} bytes that an interrupted write had left were cut off`
    notes.push({decision: 'recovered', reason})
  }
  if (mac === 'none') {
    notes.push({decision: 'keyed', reason: 'from here on lines are authenticated with a key'})
  }
  return notes
}
