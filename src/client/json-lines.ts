import {TrustError} from '../errors.ts'

const NEWLINE = 0x0a
const LONGEST_LINE = 32 * 1024 * 1024

/**
 * Splits a stream at newlines and parses each line. Works on bytes until a line is complete, so a
 * chunk may end anywhere, even in the middle of a character.
 */
export async function* parseJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  longestLine = LONGEST_LINE,
): AsyncGenerator {
  let pending: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end))
      start = end + 1
      const line = Buffer.concat(pending).toString()
      pending = []
      size = 0
      if (line.trim() !== '') yield parseLine(line)
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > longestLine) {
      throw new TrustError('SERVER_ERROR', `the server sent an event of over ${longestLine} bytes`)
    }
  }
  const rest = Buffer.concat(pending).toString().trim()
  if (rest !== '') yield parseRest(rest)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    // The line is not shown: it may contain a Secret.
    throw new TrustError('SERVER_ERROR', 'the server sent an event that is not JSON')
  }
}

/** The last event may lack its newline; half an event means that the connection was lost. */
function parseRest(rest: string): unknown {
  try {
    return JSON.parse(rest) as unknown
  } catch {
    throw new TrustError(
      'SERVER_UNREACHABLE',
      'the server closed the connection in the middle of an event',
      {
        facts: {systemCode: 'ECONNRESET'},
      },
    )
  }
}
