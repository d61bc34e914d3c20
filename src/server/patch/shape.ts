import {type FieldSchema, findType, type TypeSchema} from '../../api/schema/index.ts'
import {isEmptyObject, isObject, type JsonObject} from '../kernel/json-value.ts'

interface ScalarShape {
  kind: 'scalar'
  type: string
}

/** A value with no schema of its own: maps are told apart by key, everything else is taken as a whole. */
interface AnyShape {
  kind: 'any'
}

export interface ListShape {
  kind: 'list'
  relation: 'atomic' | 'set' | 'map'
  /** Names of the fields that tell the items of a `map` list apart. */
  keys: readonly string[]
  item: Shape
}

interface MapShape {
  kind: 'map'
  atomic: boolean
  value: Shape
}

export interface StructShape {
  kind: 'struct'
  atomic: boolean
  fields: ReadonlyMap<string, FieldShape>
}

export type Shape = ScalarShape | AnyShape | ListShape | MapShape | StructShape

export interface FieldShape {
  name: string
  shape: Shape
  /** What Go's decoded struct holds if the JSON has nothing; undefined if Go then omits the field. */
  zero: unknown
  /** Go omits it if it is empty. */
  omitsEmpty: boolean
  /** What server-side apply uses for a missing key of a list. */
  keyDefault?: string
  patch?: NonNullable<FieldSchema['patch']>
}

const EMPTY: JsonObject = Object.freeze({})

const ANY: AnyShape = {kind: 'any'}

const ZEROS: Record<string, unknown> = {
  string: '',
  Quantity: '0',
  IntOrString: 0,
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
}

function zeroOf({cardinality, scalar, always, pointer, type}: FieldSchema): unknown {
  if (!always || pointer) return undefined
  if (cardinality !== 'one') return null
  return scalar ? (ZEROS[type] ?? null) : EMPTY
}

const shapes = new Map<string, StructShape>()

/** Fields are built when first needed: types may contain themselves. */
function structShape(type: TypeSchema, atomic: boolean, custom: boolean): StructShape {
  const key = `${type.name} ${atomic} ${custom}`
  let shape = shapes.get(key)
  if (shape === undefined) {
    let fields: ReadonlyMap<string, FieldShape> | undefined
    shape = {
      kind: 'struct',
      atomic,
      get fields() {
        fields ??= new Map(
          [...type.byName.values()].map((field) => [field.name, fieldShape(field, custom)]),
        )
        return fields
      },
    }
    shapes.set(key, shape)
  }
  return shape
}

function elementShape({type, scalar}: FieldSchema, custom: boolean): Shape {
  if (type === 'RawExtension' || type === 'FieldsV1') return ANY
  if (scalar) return {kind: 'scalar', type}
  const struct = findType(type)
  return structShape(struct, struct.atomic, custom)
}

function valueShape(field: FieldSchema, custom: boolean): Shape {
  if (field.cardinality === 'map') {
    return {kind: 'map', atomic: field.atomic, value: elementShape(field, custom)}
  }
  if (field.cardinality === 'list') {
    const list = field.list ?? {type: 'atomic'}
    return {
      kind: 'list',
      relation: list.type,
      keys: list.type === 'map' ? list.keys.toSorted() : [],
      item: elementShape(field, custom),
    }
  }
  return field.scalar
    ? elementShape(field, custom)
    : structShape(findType(field.type), field.atomic, custom)
}

function fieldShape(field: FieldSchema, custom: boolean): FieldShape {
  return {
    name: field.name,
    shape: valueShape(field, custom),
    zero: custom ? undefined : zeroOf(field),
    omitsEmpty: !custom && !field.always && !field.pointer,
    ...(field.default === undefined ? {} : {keyDefault: field.default}),
    ...(field.patch === undefined ? {} : {patch: field.patch}),
  }
}

/**
 * The shape of a type of the schema table, for patches and field managers. Objects of a custom resource are never decoded
 * into Go structs, so they contain only what was sent.
 */
export function shapeOf(typeName: string, {custom = false}: {custom?: boolean} = {}): StructShape {
  return structShape(findType(typeName), false, custom)
}

const isEmptyValue = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && isEmptyObject(value))

/** A struct's field as the decoded Go struct would hold it; undefined if it is missing. */
export function readField(field: FieldShape, object: JsonObject): unknown {
  const value = object[field.name]
  if (value === undefined || value === null) return field.zero
  return field.omitsEmpty && isEmptyValue(value) ? undefined : value
}
