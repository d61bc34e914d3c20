/** Compares two resourceVersions: since Kubernetes 1.35 they are decimal numbers, of any length. */
export function compareResourceVersions(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length
  return one < other ? -1 : Number(one > other)
}
