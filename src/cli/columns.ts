import {columnsOf, type Sized} from './layout.ts'

/** Columns with three spaces between them, as kubectl prints; rows can be added later in the same widths. */
const GAP = '   '
const ELLIPSIS = '…'

/** Letters of some scripts are two columns wide: with them the columns are not quite aligned. */
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

/** The width of a row; a column of width 0 is omitted. */
function totalOf(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP.length * (shown.length - 1)
}

/** How a table may be narrowed; columns are given by number. */
export interface Narrowing {
  /** Columns that may be cut, and to what width. The others, which people copy from, never are. */
  least: ReadonlyMap<number, number>
  /** Columns to omit if cutting is not enough, in this order. */
  droppable?: readonly number[]
  /** If that is still too wide: columns to cut too, then those to omit. */
  last?: Pick<Narrowing, 'least' | 'droppable'>
  /** Columns whose cells differ at the end: these are cut at the front. */
  cutFront?: ReadonlySet<number>
  /** What many cells of a column have in common: it goes first, in this order, so that what tells them apart stays. */
  common?: ReadonlyMap<number, readonly string[]>
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

/** Widths that fit, 0 for a column that is omitted. If even that is too wide, the terminal wraps the rows. */
export function fit(
  widths: readonly number[],
  columns: number,
  {least, droppable = [], last}: Narrowing,
): number[] {
  let kept = [...widths]
  let fitted = shrink(kept, columns, least)
  for (const index of droppable) {
    if (totalOf(fitted) <= columns) return fitted
    kept = kept.map((width, column) => (column === index ? 0 : width))
    fitted = shrink(kept, columns, least)
  }
  if (totalOf(fitted) <= columns || last === undefined) return fitted
  const everything = {least: new Map([...least, ...last.least]), droppable: last.droppable ?? []}
  return fit(kept, columns, everything)
}

interface Cut {
  isInFront: boolean
  common: readonly string[]
}

function cellOf(text: string, width: number, {isInFront, common}: Cut): string {
  const length = widthOf(text)
  if (length <= width) return text + ' '.repeat(width - length)
  const [first, ...more] = common
  if (first !== undefined) {
    return cellOf(text.replace(first, ELLIPSIS), width, {isInFront, common: more})
  }
  const letters = Array.from(text)
  return isInFront
    ? `${ELLIPSIS}${letters.slice(length - width + 1).join('')}`
    : `${letters.slice(0, width - 1).join('')}${ELLIPSIS}`
}

export interface LineOptions extends Pick<Narrowing, 'cutFront' | 'common'> {
  /** May colour a cell once it has its width. */
  paint?: (cell: string, index: number) => string
}

export const lineOf = (
  row: Row,
  widths: readonly number[],
  {paint = (cell) => cell, cutFront, common}: LineOptions = {},
): string =>
  `${row
    .flatMap((text, index) => {
      const width = widths[index] ?? 0
      if (width === 0) return []
      const cut = {isInFront: cutFront?.has(index) ?? false, common: common?.get(index) ?? []}
      return [paint(cellOf(text, width, cut), index)]
    })
    .join(GAP)
    .trimEnd()}\n`

/** A whole table, narrowed to fit a terminal. */
export function formatColumns(
  head: Row,
  rows: readonly Row[],
  narrowing: Narrowing,
  stream: Sized = process.stdout,
  paint?: LineOptions['paint'],
): string {
  const widths = fit(widthsOf([head, ...rows]), columnsOf(stream), narrowing)
  const options = paint ? {...narrowing, paint} : narrowing
  return [lineOf(head, widths, narrowing), ...rows.map((row) => lineOf(row, widths, options))].join(
    '',
  )
}
