import {TrustError} from '../../errors.ts'
import type {Read} from './fields.ts'

export const invalid = (message: string, ...hints: string[]): TrustError =>
  new TrustError('CONFIG_INVALID', message, {hints})

/** A map of the configuration that has only known fields. */
export function mapOf(
  value: unknown,
  name: string,
  known: readonly string[],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} is not a map`)
  }
  const unknown = Object.keys(value).find((field) => !known.includes(field))
  if (unknown === undefined) return value as Record<string, unknown>
  throw invalid(`unknown field ${name}.${unknown}`, `${name} has ${known.join(', ')}`)
}

/** The fields of a map, each read by its own rule. Those that are null count as left out. */
export function fieldsOf<Fields extends object>(
  value: unknown,
  name: string,
  readers: {[Name in keyof Fields]-?: Read<Fields[Name]>},
): Partial<Fields> {
  const rules = readers as Record<string, Read<unknown>>
  const read: Record<string, unknown> = {}
  for (const [field, content] of Object.entries(mapOf(value, name, Object.keys(rules)))) {
    if (content !== null) read[field] = rules[field]?.(content, `${name}.${field}`)
  }
  return read as Partial<Fields>
}

/** A list of things with names, none of them twice. */
export const namedList =
  <Item extends {name: string}>(what: string, most: number, read: Read<Item>): Read<Item[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw invalid(`${name} is not a list of ${what}`)
    if (value.length > most) throw invalid(`${name} has more than ${most} ${what}`)
    const items = value.map((one: unknown, index) => read(one, `${name}[${index}]`))
    const names = items.map((one) => one.name)
    const repeated = names.find((one, index) => names.indexOf(one) < index)
    if (repeated === undefined) return items
    throw invalid(`${name} has "${repeated}" twice`)
  }
