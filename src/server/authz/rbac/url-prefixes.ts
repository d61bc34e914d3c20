/** Only the first star of a run may begin a match: otherwise each one does, and a long run takes quadratic time. */
const TRAILING_STARS = /(?<!\*)\*+$/

/** What the URLs of a rule that end in `*` begin with. */
export const urlPrefixesOf = (urls: readonly string[]): string[] =>
  urls.filter((url) => url.endsWith('*')).map((url) => url.replace(TRAILING_STARS, ''))
