/** Only the first slash of a run may begin a match: otherwise each one does, and a long run takes quadratic time. */
const TRAILING_SLASHES = /(?<!\/)\/+$/

export const withoutTrailingSlashes = (url: string): string => url.replace(TRAILING_SLASHES, '')
