import type {FieldSchema, TypeSchema} from './types.ts'
import {SCALARS} from './types.ts'

/** A type as written in a table, before its references are resolved. */
export interface ParsedType {
  name: string
  description: string
  object: boolean
  atomic: boolean
  fields: ParsedField[]
}

/** `granular` undoes the atomic of the field's own type. */
type ParsedField = FieldSchema & {granular: boolean}

const TYPE_LINE = /^(\w+)((?: (?:object|atomic))*) \| (.+)$/
const FIELD_LINE = /^ {2}(\d+)(\*?) ([\w()-]+):(\S+?)(!?)((?: [\w(),]+)*) \| (.+)$/
const TYPE = /^(\[\]|map<)?([\w./]+)(?:\(([\w.]+)\))?>?$/
const FLAG = /^(\w+)(?:\(([\w,]*)\))?$/
const scalars: ReadonlySet<string> = new Set(SCALARS)

/**
 * Reads a table. A type starts at the margin, a field is indented:
 *
 *     Name [object] [atomic] | description
 *       number[*] name:type[!] [flags] | description
 *
 * `*` is a Go pointer and `!` is written even if it is zero. A type is `T`, `[]T` or `map<T>`; `string(Phase)` names Go's
 * type too, `meta.ObjectMeta` is of another table, `(inline):T` puts its fields into the parent. Flags: `required`;
 * `default(x)`; for strategic merge `merge(key)`, `merge` (of primitives) and `retainKeys`; for server-side apply
 * `keys(a,b)`, `set`, `atomic` and `granular`. As in Kubernetes, server-side apply follows strategic merge unless it has its
 * own flag.
 */
export function parseTable(
  packageName: string,
  table: string,
  packages: Record<string, string>,
): ParsedType[] {
  const types: ParsedType[] = []
  for (const line of table.split('\n')) {
    if (line.trim() === '') continue
    const type = TYPE_LINE.exec(line)
    if (type === null) {
      const current = types.at(-1)
      if (current === undefined) throw new SyntaxError(`a field outside of a type: ${line}`)
      current.fields.push(parseField(line, packageName, packages))
      continue
    }
    const [, name = '', flags = '', description = ''] = type
    const object = flags.includes(' object')
    types.push({
      name: `${packageName}.${name}`,
      description,
      object,
      atomic: flags.includes(' atomic'),
      fields: object ? typeMeta() : [],
    })
  }
  return types
}

function parseField(
  line: string,
  packageName: string,
  packages: Record<string, string>,
): ParsedField {
  const parts = FIELD_LINE.exec(line)
  const [, number, pointer, name = '', typeText = '', always, flagText = '', description = ''] =
    parts ?? []
  const typeParts = TYPE.exec(typeText)
  if (parts === null || typeParts === null) throw new SyntaxError(`no field: ${line}`)
  const [, container, base = '', goName] = typeParts
  const scalar = scalars.has(base)
  const flags = parseFlags(flagText)
  const cardinality = container === '[]' ? 'list' : container === 'map<' ? 'map' : 'one'
  return {
    number: Number(number),
    name,
    type: scalar ? base : qualify(base, packageName, packages),
    scalar,
    ...(goName === undefined ? {} : {goType: goTypeName(goName, packageName)}),
    cardinality,
    pointer: pointer === '*',
    always: always === '!',
    inline: name === '(inline)',
    required: flags.has('required'),
    ...optionalFlags(flags, cardinality),
    atomic: flags.has('atomic') && cardinality !== 'list',
    granular: flags.has('granular'),
    description,
  }
}

function parseFlags(text: string): Map<string, string> {
  const flags = text.split(' ').filter((flag) => flag !== '')
  return new Map(
    flags.map((flag) => {
      const [, name = '', argument = ''] = FLAG.exec(flag) ?? []
      return [name, argument]
    }),
  )
}

function optionalFlags(
  flags: Map<string, string>,
  cardinality: FieldSchema['cardinality'],
): Pick<FieldSchema, 'default' | 'patch' | 'list'> {
  const defaultValue = flags.get('default')
  const mergeKey = flags.get('merge')
  const list = cardinality === 'list' ? listType(flags, mergeKey) : undefined
  return {
    ...(defaultValue === undefined ? {} : {default: defaultValue}),
    ...(mergeKey === undefined && !flags.has('retainKeys')
      ? {}
      : {
          patch: {
            merge: mergeKey !== undefined,
            ...(mergeKey === undefined || mergeKey === '' ? {} : {key: mergeKey}),
            retainKeys: flags.has('retainKeys'),
          },
        }),
    ...(list === undefined ? {} : {list}),
  }
}

function listType(
  flags: Map<string, string>,
  mergeKey: string | undefined,
): NonNullable<FieldSchema['list']> {
  const keys = flags.get('keys') ?? mergeKey
  if (flags.has('atomic')) return {type: 'atomic'}
  if (flags.has('set') || keys === '') return {type: 'set'}
  return keys === undefined ? {type: 'atomic'} : {type: 'map', keys: keys.split(',')}
}

function qualify(base: string, packageName: string, packages: Record<string, string>): string {
  const [alias = '', name] = base.split('.')
  if (name === undefined) return `${packageName}.${base}`
  const target = packages[alias]
  if (target === undefined) throw new SyntaxError(`no table is called ${alias}`)
  return `${target}.${name}`
}

function goTypeName(name: string, packageName: string): string {
  return name.includes('.') ? name : `${packageName.split('/')[1] ?? ''}.${name}`
}

const TYPE_META = {
  number: 0,
  type: 'string',
  scalar: true,
  cardinality: 'one',
  pointer: false,
  always: false,
  inline: false,
  required: false,
  atomic: false,
  granular: false,
} as const

const typeMeta = (): ParsedField[] => [
  {...TYPE_META, name: 'kind', description: 'The kind of this object, such as Secret.'},
  {
    ...TYPE_META,
    name: 'apiVersion',
    description: 'The group and version that this object is written in.',
  },
]

/** Resolves a parsed type's references to other types. */
export function linkType(
  {name, description, object, atomic, fields: parsed}: ParsedType,
  find: (name: string) => ParsedType,
): TypeSchema {
  const link = ({granular, ...field}: ParsedField): FieldSchema => ({
    ...field,
    atomic:
      field.atomic ||
      (field.cardinality === 'one' && !field.scalar && !granular && find(field.type).atomic),
  })
  const inJson = (field: ParsedField): FieldSchema[] =>
    field.inline ? find(field.type).fields.flatMap(inJson) : [link(field)]
  const fields = parsed.map(link)
  return {
    name,
    description,
    object,
    atomic,
    fields,
    byName: new Map(parsed.flatMap(inJson).map((field) => [field.name, field])),
    byNumber: new Map(
      fields.filter(({number}) => number > 0).map((field) => [field.number, field]),
    ),
  }
}
