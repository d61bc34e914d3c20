export interface RecentOptions {
  /** How many results are kept. */
  most: number
  /** Longer texts are worked out each time, so that nobody can fill the memory with them. */
  longest: number
}

export interface Recent<T> {
  (text: string): T
  /** What is kept for a text; undefined if it would have to be worked out. */
  known(text: string): T | undefined
}

/**
 * What depends on a text alone, worked out once for those that come again within moments: a request is read where it is made,
 * approved and signed. What throws is not kept.
 */
export function recently<T>(work: (text: string) => T, {most, longest}: RecentOptions): Recent<T> {
  const results = new Map<string, {result: T}>()
  const recent = (text: string) => {
    const found = results.get(text)
    if (found !== undefined) return found.result
    const result = work(text)
    if (text.length > longest) return result
    if (results.size >= most) {
      const oldest = results.keys().next().value
      if (oldest !== undefined) results.delete(oldest)
    }
    results.set(text, {result})
    return result
  }
  return Object.assign(recent, {known: (text: string) => results.get(text)?.result})
}
