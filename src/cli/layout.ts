import {stripVTControlCharacters} from 'node:util'

export type Sized = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>
export type Field = readonly [label: string, value: string]

/** Text is never wrapped to fewer columns than this. */
const NARROWEST = 26
/** Quoted text may be a command: it is not broken into lines, so that it can be copied. */
const WORDS = /(?:[^\s"]*"[^"\n]*")+[^\s"]*|\S+/g

/** The width of a line; files and pipes have none. */
export const columnsOf = ({isTTY, columns}: Sized): number =>
  isTTY && columns > 0 ? columns : Infinity

const widthOf = (text: string): number => stripVTControlCharacters(text).length

/** How words are put into lines. */
export interface WrapOptions {
  columns: number
  /** The indentation of all lines but the first. */
  indent: number
  /** How much of the first line is already written; the default is the indentation. */
  taken?: number
}

/** Wraps words; the terminal wraps one that is longer than a line. */
export function wrap(text: string, {columns, indent, taken = indent}: WrapOptions): string {
  // Some terminals wrap when the last column is written.
  const end = Math.max(indent + NARROWEST, columns - 1)
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.match(WORDS) ?? []) {
      const start = lines.length === 0 ? taken : indent
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && start + widthOf(longer) > end) {
        lines.push(line)
        line = word
      } else line = longer
    }
    lines.push(line)
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** Text after a word such as `Error:`, with its other lines indented. */
export const paragraph = (head: string, text: string, columns: number, indent = 2): string =>
  `${head}${wrap(text, {columns, indent, taken: widthOf(head)})}\n`

/** How fields are laid out. */
export interface FieldOptions {
  columns: number
  /** Where values begin. */
  width: number
  /** Where labels begin. */
  indent?: number
  paint?: (label: string) => string
}

/** Labels and values in two columns. A value with a word that does not fit beside its label goes below it. */
export const formatFields = (fields: readonly Field[], options: FieldOptions): string =>
  fields.map((field) => formatField(field, options)).join('')

function formatField(
  [label, value]: Field,
  {columns, width, indent = 0, paint = (text) => text}: FieldOptions,
): string {
  const longest = Math.max(...value.split(/\s/).map(widthOf))
  const below = indent + 2
  const start = ' '.repeat(indent)
  if (width + longest >= columns && below + longest < columns) {
    const lines = wrap(value, {columns, indent: below})
    return `${start}${paint(label)}\n${' '.repeat(below)}${lines}\n`
  }
  const painted = paint(label.padEnd(width - indent))
  return `${start}${painted}${wrap(value, {columns, indent: width})}\n`
}
