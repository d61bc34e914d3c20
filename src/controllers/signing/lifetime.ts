const SECOND = 1000
/** Twice the backdating: what is shorter would be worth little on a machine whose clock is off. */
const SHORTEST = 10 * 60 * SECOND

/** What a request gets, in milliseconds: as long as it asks for, at least ten minutes, at most as long as the signer signs for. */
export function lifetimeFor(expirationSeconds: number | undefined, longest: number): number {
  if (expirationSeconds === undefined) return longest
  return Math.min(Math.max(expirationSeconds * SECOND, SHORTEST), longest)
}
