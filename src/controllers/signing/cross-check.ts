import {TrustError} from '../../errors.ts'
import {findHead} from './log-heads.ts'
import type {KnownHead, LogEntry} from './log-line.ts'

/** A head that a line of a log names. */
interface NamedHead extends KnownHead {
  /** The log that names it, and the number of the line. */
  by: string
  line: number
  /** When it was named. */
  at: string
}

/** A log whose chain was checked. */
export interface CheckedLog {
  file: string
  chain: string | undefined
  size: number
  head: string
}

/** Collects the lines of all logs that any log names, each once. */
export class NamedHeads {
  readonly #heads = new Map<string, NamedHead>()

  see(by: string, entry: LogEntry, line: number): void {
    if (!('heads' in entry)) return
    for (const head of entry.heads ?? []) {
      const key = `${head.chain}:${head.size}:${head.hash}`
      if (!this.#heads.has(key)) this.#heads.set(key, {...head, by, line, at: entry.time})
    }
  }

  get all(): NamedHead[] {
    return [...this.#heads.values()]
  }
}

/**
 * Checks that logs agree with each other: what one names of another is in it, and two copies of one log do not differ. Throws
 * ISSUANCE_LOG_BROKEN. Returns the newest heads of the logs that are named but are not among these.
 */
export async function requireAgreement(
  logs: readonly CheckedLog[],
  named: readonly NamedHead[],
): Promise<KnownHead[]> {
  await requireNoFork(logs)
  const absent = new Map<string, NamedHead>()
  for (const head of named) {
    const log = longest(logs.filter(({chain}) => chain === head.chain))
    if (log) await requireNamed(log, head)
    else if ((absent.get(head.chain)?.size ?? -1) < head.size) absent.set(head.chain, head)
  }
  return [...absent.values()].map(({by: _by, line: _line, at: _at, ...head}) => head)
}

const longest = (logs: readonly CheckedLog[]): CheckedLog | undefined =>
  logs.toSorted((one, other) => other.size - one.size)[0]

/** Of two copies of a log, the shorter one must be the beginning of the longer one. */
async function requireNoFork(logs: readonly CheckedLog[]): Promise<void> {
  for (const {file, chain, size, head: hash} of logs) {
    const whole = longest(logs.filter((log) => log.chain === chain))
    if (chain === undefined || !whole) continue
    if ((await findHead(whole.file, {chain, size, hash})) === 'there') continue
    throw broken(
      `${file} and ${whole.file} begin with the same line and differ later: the log was forked`,
      'a machine was set back to an earlier state, or somebody has written a second log: find out which lines were published',
      {file, other: whole.file},
    )
  }
}

async function requireNamed(log: CheckedLog, head: NamedHead): Promise<void> {
  const place = await findHead(log.file, head)
  if (place === 'there') return
  const {by, line, at, hash, size} = head
  const record = `line ${line} of ${by}, of ${at}, names a line of it that ends at byte ${size} and has the hash ${hash}`
  const what =
    place === 'cut'
      ? `${log.file} was cut off: it ends at byte ${log.size}, but ${record}`
      : `${log.file} was forked or rewritten: ${record}, but another line is there`
  throw broken(what, 'what was issued in the missing lines is not known; compare with a copy', {
    file: log.file,
    by,
    line,
    hash,
  })
}

const broken = (message: string, hint: string, facts: Record<string, unknown>): TrustError =>
  new TrustError('ISSUANCE_LOG_BROKEN', message, {hints: [hint], facts})
