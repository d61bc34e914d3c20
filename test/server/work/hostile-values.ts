import {findType, type FieldSchema} from '../../../src/api/schema/index.ts'

/** A value of a field that grows with `size`: in characters where it is text, in items where it is a list or a map. */
export interface HostileValue {
  what: string
  unit: 'characters' | 'items'
  make: (size: number) => unknown
}

const repeated = (piece: string, end = '') => ({
  what: `${JSON.stringify(piece)} again and again`,
  unit: 'characters' as const,
  make: (size: number) => piece.repeat(size / piece.length) + end,
})

/** Runs that make careless expressions start over at every character, each with an end that fits nothing. */
const TEXTS = [
  repeated('a', '\n'),
  repeated('1', '!'),
  repeated('a.', '_'),
  repeated('-', ' '),
  repeated('/'),
]

const items = (what: string, make: (size: number) => unknown): HostileValue => ({
  what,
  unit: 'items',
  make,
})

const list = <T>(size: number, item: (index: number) => T): T[] =>
  Array.from({length: size}, (_, index) => item(index))

const SCALARS: Record<string, HostileValue[]> = {
  string: TEXTS,
  IntOrString: TEXTS,
  bytes: [repeated('AAAA'), repeated('A\n'), repeated('A', '!')],
  Quantity: [...TEXTS, repeated('.1'), repeated('1'), repeated('0.', '1')],
  Time: [
    repeated('1'),
    {...repeated('0'), make: (size: number) => `2026-01-01T00:00:00.${'0'.repeat(size)}Z`},
  ],
  FieldsV1: [
    items('many fields', (size) => Object.fromEntries(list(size, (i) => [`f:${i}`, {}] as const))),
    items('a deep set', (size) =>
      list(Math.min(size, 1000), () => 0).reduce<object>((inner) => ({'f:a': inner}), {}),
    ),
  ],
  RawExtension: [
    items('many fields', (size) => Object.fromEntries(list(size, (i) => [i, {}] as const))),
    items('a list', (size) => list(size, (i) => i)),
  ],
}
SCALARS.MicroTime = SCALARS.Time ?? []

/** What an attacker would send for a field, at any size; nothing for numbers, truth values and plain structs. */
export function hostileValues(field: FieldSchema): HostileValue[] {
  if (field.cardinality === 'list') {
    return [
      items('distinct items', (size) => list(size, (index) => plausible(field, index))),
      items('equal items', (size) => list(size, () => plausible(field, 0))),
    ]
  }
  if (field.cardinality === 'map') {
    const entries = (size: number, key: (index: number) => string) =>
      Object.fromEntries(list(size, (index) => [key(index), plausible(field, index)] as const))
    return [
      items('entries', (size) => entries(size, (index) => `key-${index}`)),
      items('wrong entries', (size) => entries(size, (index) => `-${index}/ /`)),
    ]
  }
  return field.scalar ? (SCALARS[field.type] ?? []) : []
}

/** One item or entry, told apart from others by its number; a struct has all of its plain fields. */
function plausible(field: FieldSchema, index: number): unknown {
  switch (field.scalar ? field.type : '') {
    case 'string':
      return `item-${index}`
    case 'bool':
      return true
    case 'int32':
    case 'int64':
    case 'double':
    case 'IntOrString':
      return index
    case 'Quantity':
      return `${index}`
    case 'bytes':
      return 'AAAA'
    case 'Time':
      return '2026-01-01T00:00:00Z'
    case 'MicroTime':
      return '2026-01-01T00:00:00.000000Z'
    case 'ExtraValue':
      return [`item-${index}`]
    case 'RawExtension':
    case 'FieldsV1':
      return {}
  }
  const inner = [...findType(field.type).byName.values()]
  return Object.fromEntries(
    inner
      .filter(({scalar, cardinality}) => scalar && cardinality === 'one')
      .map((one) => [one.name, plausible(one, index)]),
  )
}
