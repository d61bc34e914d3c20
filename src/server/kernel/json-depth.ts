/** Whether a value nests deeper than so many levels. Never recurses: depth is the sender's choice. */
export function isDeeperThan(root: unknown, most: number): boolean {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true
    level = level.flatMap(valuesOf)
  }
  return false
}

export const valuesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []
