import {stripVTControlCharacters} from 'node:util'
import {TrustError} from '../errors.ts'
import {closest} from './closest.ts'

const HELP_HINT = 'run the command with --help for its flags'

/** A mistake on the command line, as oclif throws it. */
interface ParserError extends Error {
  parse?: {input?: {flags?: Record<string, unknown>}}
  /** The flags that there are none of. */
  flags?: unknown
  /** The arguments that are missing. */
  args?: unknown
}

/** oclif has several lines and several manners for its refusals; ours are one sentence each, as all other errors are. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^Nonexistent flags?: (.+)$/, 'there is no flag $1'],
  [/^Unexpected arguments?: (.+)$/, 'nothing is known of "$1" here'],
  [/^Expected (--[^=]+)=(.*) to be one of: (.+)$/s, '$1 has to be one of $3, not "$2"'],
  [/^Expected (.*) to be one of: (.+)$/s, '"$1" is none of $2'],
  [/^Flag (--\S+) expects a value$/, '$1 needs a value'],
  [/^Flag (--\S+) expects one of these values: (.+)$/, '$1 needs a value: one of $2'],
  [/^Missing required flag (\S+)$/, '--$1 is missing'],
  [/^(--[^=]+)=.* cannot also be provided when using (--\S+)$/s, '$2 and $1 do not go together'],
]

function sentenceOf(reason: string): string {
  const known = SENTENCES.find(([pattern]) => pattern.test(reason))
  return known ? reason.replace(...known) : reason.replaceAll(/\s+/g, ' ').trim()
}

function missingArguments(args: unknown): string[] {
  const missing = Array.isArray(args) ? (args as {name?: string; options?: string[]}[]) : []
  return missing.map(({name = '', options}) =>
    options ? `<${name}> is missing: one of ${options.join(', ')}` : `<${name}> is missing`,
  )
}

function messageFor({message, args}: ParserError): string {
  const text = stripVTControlCharacters(message).replace(/\n?See more help with --help$/, '')
  if (/^Missing \d+ required arg/.test(text)) return missingArguments(args).join('; ')
  const [, several] = /^The following errors? occurred:\n(.*)$/s.exec(text) ?? []
  const reasons = several?.split('\n').map((line) => line.trim()) ?? [text]
  return reasons.map(sentenceOf).join('; ')
}

/** What was probably meant by a flag that does not exist. */
function similarFlags({flags, parse}: ParserError): string[] {
  const known = Object.keys(parse?.input?.flags ?? {}).map((name) => `--${name}`)
  const typed = Array.isArray(flags) ? flags.filter((one) => typeof one === 'string') : []
  const similar = typed.map((one) => closest(one, known)).filter((one) => one !== undefined)
  return similar.map((one) => `did you mean ${one}?`)
}

/** A mistake on the command line, with a hint always; undefined for any other error. */
export function usageErrorOf(error: unknown): TrustError | undefined {
  if (error instanceof TrustError) {
    if (error.code !== 'USAGE' || error.suggestions.length > 0) return undefined
    return new TrustError('USAGE', error.message, {cause: error, hints: [HELP_HINT]})
  }
  if (!(error instanceof Error) || !('oclif' in error)) return undefined
  return new TrustError('USAGE', messageFor(error), {
    cause: error,
    hints: [...similarFlags(error), HELP_HINT],
  })
}
