import {constants} from 'node:fs'
import {open, type FileHandle} from 'node:fs/promises'
import {TrustError} from '../../errors.ts'
import {unreadable, unsafe} from '../../fs/file-checks.ts'
import {NO_LINE, macVerdict, readLine, type LogEntry} from './log-line.ts'

const NEWLINE = 0x0a
const GAP = 'it does not follow the line before it: lines were removed or added'

/** A log as it was read. */
export interface LogSummary {
  /** How many lines it has. */
  count: number
  /** The hash of its last line: kept elsewhere, it shows later whether lines were cut off. */
  head: string
  /** Which log it is: the hash of its first line. Undefined if it has none. */
  chain: string | undefined
  /** Up to and with the last whole line, in bytes. */
  size: number
  /** What stands behind the last whole line, in bytes: being written just now, or left by a crash. */
  torn: number
}

export interface ReadLogOptions {
  /** Told every line and its number, in order. */
  onEntry?: (entry: LogEntry, line: number) => void
  /** Told where the chain breaks; reading then goes on. Without it, the first break is thrown. */
  onBroken?: (error: TrustError) => void
  /** A hash that must be that of a line. */
  expectedHead?: string | undefined
  /** Of the log: every line must be written with it, but for those of earlier versions before the first that is. */
  key?: Buffer | undefined
}

const WRONG_KEY = 'it was not written with the key of this log'
const NO_KEY =
  'it is not authenticated, though lines of this log are: it was written by somebody else'

function broken(path: string, line: number, why: string): TrustError {
  return new TrustError('ISSUANCE_LOG_BROKEN', `line ${line} of ${path}: ${why}`, {
    hints: ['the lines before it are as they were written; compare with a copy of the file'],
    facts: {file: path, line},
  })
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a planted FIFO would wait without end.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** The lines of a file, as text without their ends, and then how many bytes stand behind the last one. */
async function* linesOf(handle: FileHandle): AsyncGenerator<string, number> {
  let pending: Buffer[] = []
  const stream = handle.createReadStream({autoClose: false}) as AsyncIterable<Buffer>
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...pending, chunk.subarray(start, end)]).toString()
      pending = []
      start = end + 1
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
  }
  return pending.reduce((sum, {length}) => sum + length, 0)
}

/** Reads an issuance log and checks its chain. Throws ISSUANCE_LOG_BROKEN, and says at which line. */
export async function readLog(path: string, options: ReadLogOptions = {}): Promise<LogSummary> {
  const handle = await openForReading(path)
  try {
    if (!(await handle.stat()).isFile()) throw unsafe(path, 'it is not a file')
    return await checkLines(path, linesOf(handle), options)
  } catch (error) {
    throw unreadable(path, error)
  } finally {
    await handle.close()
  }
}

function raise(error: TrustError): never {
  throw error
}

async function checkLines(
  path: string,
  lines: AsyncGenerator<string, number>,
  {onEntry, onBroken = raise, expectedHead, key}: ReadLogOptions,
): Promise<LogSummary> {
  let last: ReturnType<typeof macVerdict> = 'none'
  let isKeyed = false
  let head = NO_LINE
  let chain: string | undefined
  let count = 0
  let size = 0
  let isExpectedThere = expectedHead === undefined
  for (;;) {
    const next = await lines.next()
    if (next.done) {
      // Whoever rewrites a log as a whole cannot write a last line that the key stands for.
      if (key && count > 0 && last === 'none') onBroken(broken(path, count, NO_KEY))
      if (isExpectedThere) return {count, head, chain, size, torn: next.value}
      throw notThere([path], expectedHead ?? '')
    }
    count += 1
    size += Buffer.byteLength(next.value) + 1
    const verdict = readLine(next.value)
    if ('why' in verdict) {
      onBroken(broken(path, count, verdict.why))
      continue
    }
    const {entry} = verdict
    if (key) {
      last = macVerdict(next.value, key)
      if (last === 'wrong') onBroken(broken(path, count, WRONG_KEY))
      if (last === 'none' && isKeyed) onBroken(broken(path, count, NO_KEY))
      isKeyed ||= last === 'right'
    }
    if (entry.prev !== head) onBroken(broken(path, count, GAP))
    head = entry.hash
    if (count === 1) chain = head
    isExpectedThere ||= head === expectedHead
    onEntry?.(entry, count)
  }
}

export const notThere = (paths: readonly string[], head: string): TrustError =>
  new TrustError('ISSUANCE_LOG_BROKEN', `no line of ${paths.join(', ')} has the hash ${head}`, {
    hints: ['lines were cut off its end, or the file was replaced; compare with a copy of it'],
    facts: {file: paths.join(', '), head},
  })

export type Warn = (line: string) => void

export const warnTorn = (file: string, torn: number, warn: Warn): void => {
  if (torn === 0) return
  warn(
    `${file} ends with an incomplete line of ${torn} bytes: it is being written, or a crash cut it off`,
  )
}

/** Reads all lines. A broken log is read to its end, with a warning about the first break. */
export async function readIssuances(
  file: string,
  onEntry: (entry: LogEntry) => void,
  warn: Warn,
): Promise<LogSummary> {
  const breaks: string[] = []
  const summary = await readLog(file, {onEntry, onBroken: ({message}) => breaks.push(message)})
  for (const first of breaks.slice(0, 1)) warn(`the issuance log is broken: ${first}`)
  warnTorn(file, summary.torn, warn)
  return summary
}
