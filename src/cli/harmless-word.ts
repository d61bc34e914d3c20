/** Short words of letters and hyphens, like names of commands: they cannot be a token, a key or a part of one. */
const HARMLESS = /^(?:[a-z]{1,12}|[a-z]+(?:-[a-z]+)+)$/i

const TOKEN = /[a-z0-9]{6}\.[a-z0-9]{16}/gi
/** Something like a token: a letter too many or too few, another character instead of the dot, or only its secret. */
const NEARLY_TOKEN =
  /(?<![a-z0-9])(?:[a-z0-9]{4,8}[.:,;_ ][a-z0-9]{12,20}|[a-z0-9]{15,17})(?![a-z0-9])/gi

const hasBoth = (text: string): boolean => /\d/.test(text) && /[a-z]/i.test(text)

/** The parts of a command line that may be a token, or most of one, even inside a path or a URL. */
function tokenLike(argv: readonly string[]): string[] {
  const found = argv.flatMap((word) => [
    ...(word.match(TOKEN) ?? []),
    ...(word.match(NEARLY_TOKEN) ?? []).filter(hasBoth),
  ])
  return [...new Set(found)].sort((one, other) => other.length - one.length)
}

/** The message without anything from the command line that may be a token: typed in the wrong place, it is still a secret. */
export const withoutTokens = (text: string, argv: readonly string[]): string =>
  tokenLike(argv)
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
    .replaceAll(TOKEN, '…')

/** Whether a word of a command line may be repeated in a message, which may end up in logs. */
export const isHarmless = (word: string): boolean => HARMLESS.test(word)

/** The words, with "…" for each that must not be repeated. */
export const harmless = (words: readonly string[]): string =>
  words.map((word) => (isHarmless(word) ? word : '…')).join(' ')

/** A flag without its value: `--name=value`, `-nvalue`. */
export const flagName = (argument: string): string =>
  argument.startsWith('--') ? (argument.split('=', 1)[0] ?? '') : argument.slice(0, 2)
