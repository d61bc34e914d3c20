import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {CLEAR_LINE} from './interruption.ts'
import {plainLine} from './plain-text.ts'

export interface ServerLogOptions {
  stream?: NodeJS.WritableStream
  clock: Clock
  quiet?: boolean
  /** Called after each line. */
  afterLine?: () => void
}

/**
 * The log of a server: lines on the standard error, each with its time. If the standard error fails, because of a full disk or a
 * closed pipe, lines are lost but the server keeps running.
 */
export function openServerLog({
  stream = process.stderr,
  clock,
  quiet = false,
  afterLine = () => undefined,
}: ServerLogOptions): (line: string) => void {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true
  const log = (line: string) => {
    if (quiet) return
    // The terminal shows what was typed on the line, such as "^C".
    if (isTerminal) stream.write(CLEAR_LINE)
    stream.write(`${clock.now().toISOString()} ${plainLine(line)}\n`)
    afterLine()
  }
  // Libraries print whole errors, with their stack: the message is enough.
  Object.assign(globalThis.console, {
    error: (...said: unknown[]) => log(`error: ${said.map(messageOf).join(' ')}`),
  })
  return log
}
