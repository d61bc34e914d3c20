import {stripVTControlCharacters} from 'node:util'
import {closest, didYouMean} from '../closest.ts'
import {TrustError} from '../errors.ts'
import {flagName, isHarmless} from './harmless-word.ts'

const HELP_HINT = 'run the command with --help to see how it is used'

/** A mistake on the command line, as oclif throws it. */
interface ParserError extends Error {
  parse?: {input?: {flags?: Record<string, unknown>}}
  /** Flags that do not exist. */
  flags?: unknown
  /** Unexpected arguments, as texts; or missing ones, as their definitions. */
  args?: unknown
}

/** oclif words its errors in several styles and on several lines. For these it gives nothing but the text; ours are one sentence each. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^Expected (--[^=]+)=([a-z]{1,12}) to be one of: (.+)$/s, '$1 must be one of $3, not "$2"'],
  [/^Expected (--[^=]+)=.* to be one of: (.+)$/s, '$1 must be one of $2'],
  [/^Expected ([a-z-]{1,12}) to be one of: (.+)$/s, '"$1" is not one of $2'],
  [/^Expected .* to be one of: (.+)$/s, 'the argument must be one of $1'],
  [/^Flag (--\S+) expects a value$/, '$1 needs a value'],
  [/^Flag (--\S+) expects one of these values: (.+)$/, '$1 needs a value: one of $2'],
  [/^Missing required flag (\S+)$/, '--$1 is missing'],
  [
    /^(--[^=]+)=.* cannot also be provided when using (--\S+)$/s,
    '$2 and $1 cannot be used together',
  ],
]

function sentenceOf(reason: string): string {
  const known = SENTENCES.find(([pattern]) => pattern.test(reason))
  return known ? reason.replace(...known) : reason.replaceAll(/\s+/g, ' ').trim()
}

interface MissingArgument {
  name?: string
  options?: string[]
}

const missingArgument = ({name = '', options}: MissingArgument): string =>
  options ? `<${name}> is missing: one of ${options.join(', ')}` : `<${name}> is missing`

/** An unexpected argument may be a token, or most of one: only plain words are repeated. */
const unexpected = (words: readonly string[]): string =>
  words.every(isHarmless)
    ? `unexpected argument ${words.map((word) => `"${word}"`).join(', ')}`
    : 'there are more arguments than this command takes'

const textsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []

function messageFor({message, args, flags}: ParserError): string {
  if (Array.isArray(flags)) return `there is no flag ${textsOf(flags).map(flagName).join(', ')}`
  const words = textsOf(args)
  if (words.length > 0) return unexpected(words)
  if (Array.isArray(args)) return (args as MissingArgument[]).map(missingArgument).join('; ')
  const text = stripVTControlCharacters(message).replace(/\n?See more help with --help$/, '')
  const [, several] = /^The following errors? occurred:\n(.*)$/s.exec(text) ?? []
  const reasons = several?.split('\n').map((line) => line.trim()) ?? [text]
  return reasons.map(sentenceOf).join('; ')
}

/** What was probably meant by a flag that does not exist. */
function similarFlags({flags, parse}: ParserError): string[] {
  const known = Object.keys(parse?.input?.flags ?? {})
  const similar = textsOf(flags)
    .map((one) => closest(flagName(one).replace(/^-+/, ''), known))
    .filter((one) => one !== undefined)
  return similar.map((one) => `did you mean --${one}?`)
}

/** What was probably meant by a value that is not in a list. */
function similarValue({message}: ParserError): string[] {
  const text = stripVTControlCharacters(message)
  const [, typed = '', listed] = /^Expected (?:--[^=]+=)?(.*) to be one of: (.+)$/m.exec(text) ?? []
  return listed === undefined ? [] : didYouMean(typed, listed.split(', '))
}

/** The error for a mistake on the command line, always with a hint; undefined for any other error. */
export function usageErrorOf(error: unknown): TrustError | undefined {
  if (error instanceof TrustError) {
    if (error.code !== 'USAGE' || error.suggestions.length > 0) return undefined
    return new TrustError('USAGE', error.message, {cause: error, hints: [HELP_HINT]})
  }
  if (!(error instanceof Error) || !('oclif' in error)) return undefined
  return new TrustError('USAGE', messageFor(error), {
    cause: error,
    hints: [...similarFlags(error), ...similarValue(error), HELP_HINT],
  })
}
