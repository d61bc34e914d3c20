export interface RecentOptions {
  /** How many results are kept. */
  most: number
  /** Longer texts are worked out each time, so that nobody can fill the memory with them. */
  longest: number
}

/**
 * What depends on a text alone, worked out once for those that come again within moments: a request is read where it is made,
 * approved and signed. What throws is not kept.
 */
export function recently<T>(
  work: (text: string) => T,
  {most, longest}: RecentOptions,
): (text: string) => T {
  const results = new Map<string, {result: T}>()
  return (text) => {
    const found = results.get(text)
    if (found !== undefined) return found.result
    const result = work(text)
    if (text.length > longest) return result
    const [oldest] = results.keys()
    if (results.size >= most && oldest !== undefined) results.delete(oldest)
    results.set(text, {result})
    return result
  }
}
