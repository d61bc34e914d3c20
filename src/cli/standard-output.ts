import {writeSync} from 'node:fs'
import {systemCode, TrustError} from '../errors.ts'

type Standard = NodeJS.WriteStream & {fd: number}

const closed = new AbortController()
/** Aborted when the standard output takes no more. Commands that only print until they are stopped end by it. */
export const outputClosed: AbortSignal = closed.signal

/** Whoever reads has seen enough, as in "trustadm status | head -1". */
const READER_GONE = ['EPIPE', 'ECONNRESET']

/** To be called once, before anything is printed. A failure does not end the program: it may be in the middle of a change. */
export function openOutput(): void {
  catchErrors(process.stdout, (error) => closed.abort(error))
  // Nobody is left to be told.
  catchErrors(process.stderr, () => undefined)
}

type Done = (error?: Error | null) => void

/** No error is passed on: oclif would throw it, wherever the program is. */
function catchErrors(stream: Standard, onError: (error: Error) => void): void {
  const caught =
    (done: Done): Done =>
    (error) => {
      if (error) onError(error)
      done()
    }
  const isFile = '_type' in stream && stream._type === 'fs'
  const write = isFile ? wholeWrites(stream.fd) : stream._write.bind(stream)
  stream._write = (chunk, encoding, done) => write(chunk, encoding, caught(done))
  const writeAll = stream._writev?.bind(stream)
  if (writeAll) stream._writev = (chunks, done) => writeAll(chunks, caught(done))
}

/** Node.js writes to a file once, and does not notice if the disk had room for only a part. */
const wholeWrites = (file: number) => (chunk: Buffer, _encoding: unknown, done: Done) => {
  try {
    for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at)
    done()
  } catch (error) {
    done(error as Error)
  }
}

/**
 * Waits until the readers have everything, however slow they are: what is still in memory when the process ends is lost. Returns the
 * exit code of the process.
 */
export async function finishOutput(exit: number, argv: readonly string[]): Promise<number> {
  await written(process.stdout)
  const reason: unknown = outputClosed.reason
  let code = exit
  if (outputClosed.aborted && !READER_GONE.includes(systemCode(reason) ?? '')) {
    const {unwritable} = await import('../fs/file-checks.ts')
    const {reportError} = await import('./report-error.ts')
    const {message} = unwritable('the standard output', reason)
    const hint =
      'the result is not complete, but what the command changed stays changed: make room, and check before you run it again'
    const failure = new TrustError('FILE_UNWRITABLE', message, {cause: reason, hints: [hint]})
    const failed = await reportError(failure, argv)
    code ||= failed
  }
  await written(process.stderr)
  return code
}

const written = (stream: Standard): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve())
  })
