/** A record of a CSV text, and the line that it begins in. */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** One cell: in quotes, in which a quote is doubled, or without any. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/** What cannot be read, and in which line. */
export interface CsvProblem {
  line: number
  problem: string
}

/** Reads CSV (RFC 4180). Empty lines and lines that begin with # are left out. */
export function readCsv(text: string): {records: CsvRecord[]; problem?: CsvProblem} {
  const records: CsvRecord[] = []
  let line = 1
  let cells: string[] = []
  let begun = line
  let at = text.startsWith('\ufeff') ? 1 : 0
  const end = () => {
    const isBlank = cells.length === 1 && cells[0]?.trim() === ''
    if (!isBlank && !cells[0]?.startsWith('#')) records.push({line: begun, cells})
    cells = []
  }
  while (at < text.length) {
    CELL.lastIndex = at
    const match = CELL.exec(text)
    if (match === null) return {records, problem: {line, problem: 'a quote is not closed'}}
    const [all, quoted, plain = '', separator] = match
    cells.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'))
    line += all.split('\n').length - 1
    at += all.length
    if (separator === ',' && at < text.length) continue
    if (separator === ',') cells.push('')
    end()
    begun = line
  }
  return {records}
}
