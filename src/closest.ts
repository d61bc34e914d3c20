/** How many letters must be inserted, removed or replaced. */
function distance(left: string, right: string): number {
  let previous = Array.from({length: right.length + 1}, (_, index) => index)
  for (const [row, letter] of Array.from(left).entries()) {
    const current = [row + 1]
    for (const [column, other] of Array.from(right).entries()) {
      current.push(
        Math.min(
          (previous[column + 1] ?? 0) + 1,
          (current[column] ?? 0) + 1,
          (previous[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      )
    }
    previous = current
  }
  return previous[right.length] ?? 0
}

/** The name that was probably meant; undefined if none is similar. */
export function closest(typed: string, names: readonly string[]): string | undefined {
  const rated = names
    .map((name) => ({name, cost: distance(typed, name)}))
    .sort((a, b) => a.cost - b.cost)
  const best = rated[0]
  return best && best.cost <= Math.max(2, typed.length / 3) ? best.name : undefined
}

/** A hint for a mistyped name; none if no name is similar. */
export function didYouMean(typed: string, names: readonly string[]): string[] {
  const similar = closest(typed, names)
  return similar === undefined ? [] : [`did you mean "${similar}"?`]
}
