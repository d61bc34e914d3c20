import {type Document, isMap, isSeq, LineCounter, parseDocument, type YAMLMap} from 'yaml'
import {printable} from '../../client/printable.ts'
import {BOOTSTRAPPER_NAMESPACE} from '../../csr/bootstrapper.ts'
import type {Inventory} from './plan.ts'
import type {InventoryRow} from './wanted.ts'

const FIELDS = ['name', 'namespace', 'dns', 'addresses', 'providerID'] as const
type FieldName = (typeof FIELDS)[number]

const MOST_MACHINES = 10_000
const LONGEST_QUOTED = 40

/** One entry of an inventory as it is written. */
type Entry = Partial<Record<FieldName, unknown>>

const isField = (name: string): name is FieldName => (FIELDS as readonly string[]).includes(name)
const quoted = (text: string): string => `"${printable(text).slice(0, LONGEST_QUOTED)}"`
const known = `the fields are ${FIELDS.join(', ')}`

/** Collects rows and problems, each with its line. */
class Reading {
  readonly rows: InventoryRow[] = []
  readonly problems: string[] = []
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  problem(line: number, text: string): void {
    this.problems.push(`line ${line}: ${text}`)
  }

  unknown(line: number, field: string): void {
    this.problem(line, `unknown field ${quoted(field)}; ${known}`)
  }

  entry(line: number, entry: Entry): void {
    const {name, namespace = this.#namespace, providerID} = entry
    const before = this.problems.length
    const word = (field: FieldName, value: unknown): string => {
      if (typeof value === 'string') return value
      this.problem(line, `${field} is ${value === undefined ? 'missing' : 'not a text'}`)
      return ''
    }
    const words = (field: FieldName): string[] => {
      const value = entry[field]
      if (value === undefined || value === null) return []
      const list: unknown[] = Array.isArray(value) ? value : [value]
      return list.map((one) => word(field, one))
    }
    const machine = {
      name: word('name', name),
      namespace: word('namespace', namespace),
      dns: words('dns'),
      addresses: words('addresses'),
      ...(providerID !== undefined && {providerID: word('providerID', providerID)}),
    }
    if (this.problems.length > before) return
    const dns = machine.dns.length === 0 ? [machine.name] : machine.dns
    this.rows.push({machine: {...machine, dns}, where: `line ${line}`})
  }

  /** Returns whether there is room for so many. */
  takes(count: number): boolean {
    if (count > MOST_MACHINES) this.problems.push(`it has more than ${MOST_MACHINES} machines`)
    else if (count === 0) this.problems.push('it names no machine')
    return count > 0 && count <= MOST_MACHINES
  }
}

/** A table whose first line names the fields; several names or addresses are separated by blanks or semicolons. */
function readTable(text: string, reading: Reading): void {
  const {records, problem} = readCsv(text)
  if (problem) reading.problem(problem.line, problem.problem)
  const [head, ...rows] = records
  if (head === undefined || !reading.takes(rows.length)) return
  for (const cell of head.cells.filter((one) => !isField(one))) reading.unknown(head.line, cell)
  for (const {line, cells} of rows) {
    if (cells.length > head.cells.length) {
      reading.problem(line, `it has ${cells.length} cells, and the first line ${head.cells.length}`)
      continue
    }
    const entry: Entry = {}
    for (const [index, field] of head.cells.entries()) {
      const cell = cells[index] ?? ''
      if (!isField(field) || cell === '') continue
      const isList = field === 'dns' || field === 'addresses'
      entry[field] = isList ? cell.split(/[\s;]+/).filter((one) => one !== '') : cell
    }
    reading.entry(line, entry)
  }
}

/** Undefined if it has aliases: a short text could become very long with them. */
function plainMap(map: YAMLMap, document: Document): Record<string, unknown> | undefined {
  try {
    return map.toJS(document, {maxAliasCount: 0}) as Record<string, unknown>
  } catch (error) {
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}

function readDocument(text: string, reading: Reading): void {
  const lines = new LineCounter()
  const lineOf = (node: unknown): number => {
    const [start = 0] = (node as {range?: readonly number[] | null} | null)?.range ?? []
    return lines.linePos(start).line
  }
  const document: Document = parseDocument(text, {lineCounter: lines, prettyErrors: false})
  for (const {pos, code} of document.errors) {
    reading.problem(
      lines.linePos(pos[0]).line,
      `it is not YAML (${code.toLowerCase().replaceAll('_', ' ')})`,
    )
  }
  if (document.errors.length > 0) return
  const {contents} = document
  const list = isMap(contents) ? contents.get('machines', true) : contents
  if (!isSeq(list)) {
    return reading.problem(lineOf(contents), 'it is not a list of machines, nor a map with one')
  }
  if (!reading.takes(list.items.length)) return
  for (const item of list.items) {
    const line = lineOf(item)
    if (!isMap(item)) {
      reading.problem(line, `it is not a machine: ${known}`)
      continue
    }
    const entry = plainMap(item, document)
    if (entry === undefined) {
      reading.problem(line, 'it has aliases, which an inventory may not have')
      continue
    }
    const unknown = Object.keys(entry).filter((field) => !isField(field))
    for (const field of unknown) reading.unknown(line, field)
    if (unknown.length === 0) reading.entry(line, entry)
  }
}

/** A CSV text names its fields in the first line; everything else is YAML, which includes JSON. */
function isTable(text: string): boolean {
  const [first = ''] = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)
  const cells = first.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
  return cells.includes('name')
}

/** Reads an inventory as far as it can be read, with all problems. */
export function readInventory(
  text: string,
  source: string,
  namespace = BOOTSTRAPPER_NAMESPACE,
): Inventory {
  const reading = new Reading(namespace)
  if (isTable(text)) readTable(text, reading)
  else readDocument(text, reading)
  const {rows, problems} = reading
  return {rows, problems, source}
}

/** A record of a CSV text, and the line that it begins in. */
interface CsvRecord {
  line: number
  cells: string[]
}

/** One cell: in quotes, in which a quote is doubled, or without any. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/** What cannot be read, and in which line. */
interface CsvProblem {
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
