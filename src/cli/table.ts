import Table from 'cli-table3'

const NO_LINES = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((part) => [part, '']),
)

/** A line break in a cell would look like another row. */
const oneLine = (cell: string): string => cell.replaceAll(/[\t\n]+/g, ' ')

/** Columns with three spaces between them and nothing else, as kubectl prints. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...head],
    chars: {...NO_LINES, middle: '   '},
    style: {head: [], border: [], 'padding-left': 0, 'padding-right': 0},
  })
  table.push(...rows.map((row) => row.map(oneLine)))
  return table
    .toString()
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
