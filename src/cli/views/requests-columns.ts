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

/** How wide a row is; a column without a width is left out. */
function totalOf(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP.length * (shown.length - 1)
}

/**
 * Takes from the widest of the columns that may be cut until a row fits, and then leaves out those that may vanish; the others, which
 * people copy from, are never cut. What still does not fit is left to the terminal.
 */
export function fit(
  widths: readonly number[],
  columns: number,
  shrinkable: ReadonlyMap<number, number>,
): number[] {
  const fitted = [...widths]
  const [kept, vanishing] = [[...shrinkable].filter(([, least]) => least > 0), [...shrinkable]]
  while (totalOf(fitted) > columns) {
    const [widest] = kept
      .filter(([index, least]) => (fitted[index] ?? 0) > least)
      .sort(([one], [other]) => (fitted[other] ?? 0) - (fitted[one] ?? 0))
    if (!widest) break
    fitted[widest[0]] = (fitted[widest[0]] ?? 0) - 1
  }
  for (const [index, least] of vanishing) {
    if (least === 0 && totalOf(fitted) > columns) fitted[index] = 0
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
    .flatMap((text, index) => {
      const width = widths[index] ?? 0
      if (width === 0) return []
      const isLast = index === row.length - 1
      return [paint(isLast ? text : cellOf(text, width), index)]
    })
    .join(GAP)
    .trimEnd()}\n`
