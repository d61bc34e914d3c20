import {printable} from '../../client/printable.ts'
import type {Obtained} from '../../control-plane/issuances.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, formatFields, type Field} from '../layout.ts'

const LABEL_WIDTH = 14
const COLUMNS = ['NODE', 'ISSUED', 'BY', 'SIGNER', 'SERIAL', 'EXPIRES']
const [NODE, SIGNER, SERIAL, EXPIRES] = [0, 3, 4, 5] as const
const NARROWING: Narrowing = {
  least: new Map([[SIGNER, 10]]),
  droppable: [SIGNER, EXPIRES, SERIAL],
  last: {least: new Map([[NODE, 20]])},
  cutFront: new Set([SIGNER]),
}

/** Requesters choose some of this: it must not move the cursor or add a line. */
export const cell = (text: string | null | undefined): string =>
  printable(text ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim() || '<none>'

/** To the second; JSON has more. */
export const moment = (time: string | null | undefined): string =>
  cell(time?.replace(/\.\d+Z$/, 'Z'))

/** When something was used last. Only the issuance log can tell that it never was. */
export const lastUse = (time: string | null, {isLogRead}: {isLogRead: boolean}): string =>
  time === null ? (isLogRead ? '<never>' : '<unknown>') : moment(time)

export const fields = (lines: readonly Field[]): string =>
  formatFields(lines, {columns: columnsOf(process.stdout), width: LABEL_WIDTH})

/** Which machines joined with something, and each of their certificates. */
export function obtainedTable(obtained: Obtained | null): string {
  if (obtained === null) {
    return '\nWhich machines joined with it is in the issuance log, on the machine of the control plane.\n'
  }
  if (obtained.certificates.length === 0) return '\nNo machine has joined with it.\n'
  const rows = obtained.certificates.map(({node, time, by, signer, serial, notAfter}) => [
    cell(node),
    moment(time),
    by,
    cell(signer),
    cell(serial),
    moment(notAfter),
  ])
  return `\n${formatColumns(COLUMNS, rows, NARROWING)}`
}

export const waiting = (pending: readonly string[]): string =>
  pending.length === 0 ? '<none>' : pending.map(cell).join(', ')
