import {EXIT, TrustError, hintText, messageOf, type Hint} from '../errors.ts'
import {withoutTokens} from './harmless-word.ts'
import {toJson} from './output.ts'
import {plainText} from './plain-text.ts'
import {usageErrorOf} from './usage-error.ts'
import {wants, wantsJson} from './wants-json.ts'

/** What is shown of a failure. */
export interface Failure {
  code: string
  message: string
  hints: Hint[]
  exit: number
}

/** Ctrl-C in a prompt. */
function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name === 'ExitPromptError'
}

/** What a user sees of an error. Of an unknown error only the message: the stack needs --verbose. */
export function failureOf(thrown: unknown): Failure {
  const error = usageErrorOf(thrown) ?? thrown
  if (error instanceof TrustError) {
    const {code, message, hints, oclif} = error
    return {code, message, hints, exit: oclif.exit}
  }
  if (isInterruption(error)) return {code: 'INTERRUPTED', message: 'stopped', hints: [], exit: 130}
  return {
    code: 'INTERNAL',
    message: messageOf(error),
    hints: ['run the command again with --verbose for details'],
    exit: EXIT.failed,
  }
}

function stackOf(error: unknown): string {
  const own = error instanceof Error ? (error.stack ?? '') : ''
  const cause = error instanceof Error && error.cause !== undefined ? stackOf(error.cause) : ''
  return [own, cause].filter((text) => text !== '').join('\ncaused by ')
}

/**
 * Prints a failure on the standard error and returns the exit code. With `--output json` it prints one JSON object there,
 * `{"error": {code, message, hints}}`, and the standard output stays empty.
 */
export async function reportError(
  error: unknown,
  argv: readonly string[],
  completeHint: (hint: Hint) => string = hintText,
): Promise<number> {
  const {exit, ...said} = failureOf(error)
  const safe = (text: string) => withoutTokens(text, argv)
  const failure = {
    ...said,
    message: safe(said.message),
    hints: said.hints.map(completeHint).map(safe),
  }
  if (wantsJson(argv)) {
    process.stderr.write(`${toJson({error: failure})}\n`)
    return exit
  }
  const {colours} = await import('./colours.ts')
  const {columnsOf, paragraph} = await import('./layout.ts')
  const paint = colours(process.stderr)
  const columns = columnsOf(process.stderr)
  const [hint, ...more] = failure.hints
  // The user stopped it: that is not an error.
  if (failure.code === 'INTERRUPTED') {
    process.stderr.write('Stopped\n')
    return exit
  }
  let text = paragraph(`${paint.red('Error:')} `, plainText(failure.message), columns)
  if (hint !== undefined && more.length === 0)
    text += paragraph('Try this: ', plainText(hint), columns)
  if (more.length > 0) {
    const points = failure.hints.map((one) => paragraph('  • ', plainText(one), columns, 4))
    text += `Try this:\n${points.join('')}`
  }
  // For a mistyped command line, the stack is of no use.
  if (wants(argv, '--verbose') && failure.code !== 'USAGE') {
    text += `${paint.dim(plainText(safe(stackOf(error))))}\n`
  }
  process.stderr.write(text)
  return exit
}
