/** Letters only and short, or with hyphens as in the names of commands: nothing that a token, a key or a piece of one looks like. */
const HARMLESS = /^(?:[a-z]{1,12}|[a-z]+(?:-[a-z]+)+)$/i

/** Whether a word of a command line may be repeated in a message, where it ends up in logs. */
export const isHarmless = (word: string): boolean => HARMLESS.test(word)

/** The words, with "…" for each that must not be repeated. */
export const harmless = (words: readonly string[]): string =>
  words.map((word) => (isHarmless(word) ? word : '…')).join(' ')

/** A flag without its value: `--name=value`, `-nvalue`. */
export const flagName = (argument: string): string =>
  argument.startsWith('--') ? (argument.split('=', 1)[0] ?? '') : argument.slice(0, 2)
