/** Other words for the first word of a command, which people know from other programs. */
const ALIASES: Readonly<Record<string, string>> = {
  certs: 'certificate',
  certificates: 'certificate',
  csr: 'certificate',
  completion: 'autocomplete',
  nodes: 'node',
  tokens: 'token',
  machines: 'machine',
}

/** The words of a command line, with the word of the program instead of an alias. */
export function withoutAlias(words: readonly string[]): string[] {
  const [first = '', ...rest] = words
  return words.length === 0
    ? []
    : [Object.hasOwn(ALIASES, first) ? (ALIASES[first] ?? first) : first, ...rest]
}
