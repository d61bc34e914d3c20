/** As kube-apiserver: if all warnings of a response together are longer than this, each is cut and the last are left out. */
const MOST_TOGETHER = 4096
const MOST_OF_ONE = 256

/** The values of a response's Warning headers. */
export function warningHeaders(texts: readonly string[]): string[] {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= MOST_TOGETHER) return texts.map(warningHeader)
  return texts
    .slice(0, MOST_TOGETHER / MOST_OF_ONE)
    .map((text) => warningHeader(text.slice(0, MOST_OF_ONE)))
}

/** As RFC 7234; what a header cannot carry is left out. */
const warningHeader = (text: string) =>
  `299 - "${text.replaceAll(/[^\t\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`
