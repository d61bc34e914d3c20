import {columnsOf, type Sized} from './layout.ts'

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

/** What may be done to a table so that it fits; columns are known by their number. */
export interface Narrowing {
  /** Columns that may be cut, and to what width. The others, which people copy from, never are. */
  least: ReadonlyMap<number, number>
  /** Columns that are left out where cutting is not enough, the first one first. */
  droppable?: readonly number[]
  /** Columns whose cells differ in their ends: they are cut at the front. */
  cutFront?: ReadonlySet<number>
}

/** Takes from the widest of the columns that may be cut until a row fits. */
function shrink(widths: readonly number[], columns: number, least: Narrowing['least']): number[] {
  const fitted = [...widths]
  while (totalOf(fitted) > columns) {
    const [widest] = [...least.keys()]
      .filter((index) => (fitted[index] ?? 0) > (least.get(index) ?? 0))
      .sort((one, other) => (fitted[other] ?? 0) - (fitted[one] ?? 0))
    if (widest === undefined) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

/** The widths that fit, 0 for a column that is left out. What still does not fit is left to the terminal. */
export function fit(
  widths: readonly number[],
  columns: number,
  {least, droppable = []}: Narrowing,
): number[] {
  let fitted = shrink(widths, columns, least)
  for (let count = 1; count <= droppable.length && totalOf(fitted) > columns; count += 1) {
    const dropped = droppable.slice(0, count)
    const kept = widths.map((width, index) => (dropped.includes(index) ? 0 : width))
    fitted = shrink(kept, columns, least)
  }
  return fitted
}

function cellOf(text: string, width: number, isCutInFront: boolean): string {
  const length = widthOf(text)
  if (length <= width) return text + ' '.repeat(width - length)
  const letters = Array.from(text)
  return isCutInFront
    ? `${ELLIPSIS}${letters.slice(length - width + 1).join('')}`
    : `${letters.slice(0, width - 1).join('')}${ELLIPSIS}`
}

export interface LineOptions {
  /** May colour a cell once it has its width. */
  paint?: (cell: string, index: number) => string
  cutFront?: ReadonlySet<number> | undefined
}

export const lineOf = (
  row: Row,
  widths: readonly number[],
  {paint = (cell) => cell, cutFront}: LineOptions = {},
): string =>
  `${row
    .flatMap((text, index) => {
      const width = widths[index] ?? 0
      if (width === 0) return []
      return [paint(cellOf(text, width, cutFront?.has(index) ?? false), index)]
    })
    .join(GAP)
    .trimEnd()}\n`

/** A whole table, narrowed where a person looks at it. */
export function formatColumns(
  head: Row,
  rows: readonly Row[],
  narrowing: Narrowing,
  stream: Sized = process.stdout,
): string {
  const widths = fit(widthsOf([head, ...rows]), columnsOf(stream), narrowing)
  return [head, ...rows].map((row) => lineOf(row, widths, narrowing)).join('')
}
