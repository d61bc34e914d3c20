/** How many letters must be inserted, removed, replaced or swapped with the next one. */
function distance(left: string, right: string): number {
  const [from, to] = [Array.from(left), Array.from(right)]
  let before: number[] = []
  let previous = Array.from({length: to.length + 1}, (_, index) => index)
  for (const [row, letter] of from.entries()) {
    const current = [row + 1]
    for (const [column, other] of to.entries()) {
      const isSwapped = letter === to[column - 1] && other === from[row - 1]
      current.push(
        Math.min(
          (previous[column + 1] ?? 0) + 1,
          (current[column] ?? 0) + 1,
          (previous[column] ?? 0) + (letter === other ? 0 : 1),
          isSwapped ? (before[column - 1] ?? 0) + 1 : Infinity,
        ),
      )
    }
    before = previous
    previous = current
  }
  return previous[to.length] ?? 0
}

/** Two letters of three are another word, not a mistake. */
const mostWrong = ({length}: string): number => (length < 4 ? 1 : Math.max(2, length / 3))

/** The name that was probably meant; undefined if none is similar. */
export function closest(typed: string, names: readonly string[]): string | undefined {
  const rated = names
    .map((name) => ({name, cost: distance(typed, name)}))
    .sort((a, b) => a.cost - b.cost)
  const best = rated[0]
  return best && best.cost <= mostWrong(typed) ? best.name : undefined
}

/** A hint for a mistyped name; none if no name is similar. */
export function didYouMean(typed: string, names: readonly string[]): string[] {
  const similar = closest(typed, names)
  return similar === undefined ? [] : [`did you mean "${similar}"?`]
}
