/** Columns with three spaces between them, as kubectl prints; rows can be added later in the same widths. */
const GAP = '   '
const ELLIPSIS = '…'

/** Letters of other scripts may be two columns wide; for them the columns are only nearly straight. */
const widthOf = (text: string): number => (isAscii(text) ? text.length : Array.from(text).length)

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

export type Row = readonly string[]

export const widthsOf = (rows: readonly Row[], least: readonly number[] = []): number[] => {
  const widths = [...least]
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
    }
  }
  return widths
}

/**
 * Takes from the widest of the columns that may be cut until a row fits; the others, which people copy from, are never cut. What still
 * does not fit is left to the terminal.
 */
export function fit(
  widths: readonly number[],
  columns: number,
  shrinkable: ReadonlyMap<number, number>,
): number[] {
  const fitted = [...widths]
  const total = () =>
    fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (fitted.length - 1)
  let excess = total() - columns
  while (excess > 0) {
    const [widest] = [...shrinkable]
      .filter(([index, least]) => (fitted[index] ?? 0) > least)
      .sort(([one], [other]) => (fitted[other] ?? 0) - (fitted[one] ?? 0))
    if (!widest) break
    fitted[widest[0]] = (fitted[widest[0]] ?? 0) - 1
    excess -= 1
  }
  return fitted
}

function cellOf(text: string, width: number): string {
  const length = widthOf(text)
  if (length <= width) return text + ' '.repeat(width - length)
  return `${Array.from(text)
    .slice(0, width - 1)
    .join('')}${ELLIPSIS}`
}

/** One line; `paint` may colour a cell once it has its width. */
export const lineOf = (
  row: Row,
  widths: readonly number[],
  paint: (cell: string, index: number) => string = (cell) => cell,
): string =>
  `${row
    .map((text, index) => {
      const isLast = index === row.length - 1
      return paint(isLast ? text : cellOf(text, widths[index] ?? 0), index)
    })
    .join(GAP)
    .trimEnd()}\n`
