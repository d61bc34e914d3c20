import {type FieldSchema, findType, type Scalar, type TypeSchema} from '../../api/schema/index.ts'
import {isObject, jsonKind, type JsonObject, setOwn, valuesOf} from '../kernel/json-value.ts'
import {MalformedError} from './decode-error.ts'
import {convertScalar, isZero, zeroScalar} from './scalars.ts'

/** For one list or map. Kubernetes has no such limit, but none of its objects comes near it. */
const MOST_ITEMS = 10_000
/** For all lists, maps and free-form values of an object together. */
const MOST_VALUES = 25_000
/** Free-form values are later cloned and written recursively. */
const MOST_DEPTH = 200
/** How much of a key is shown in a path. */
export const MOST_STEP = 256

/** Counts the values of one object while it is decoded, which limits the work of all later steps. */
class ValueBudget {
  #left = MOST_VALUES

  /** The items of a list, or the entries of a map. */
  takeItems(count: number, path: readonly string[]): void {
    if (count > MOST_ITEMS)
      refuseSize(path, `Too many: ${count}: must have at most ${MOST_ITEMS} items`)
    this.#take(count, path)
  }

  /** A value without a schema: everything in it counts. Returns the value. */
  takeFreeForm(root: unknown, path: readonly string[]): unknown {
    let level: unknown[] = [root]
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > MOST_DEPTH) throw new MalformedError('exceeded max depth')
      this.#take(level.length, path)
      level = level.flatMap(valuesOf)
    }
    return root
  }

  #take(count: number, path: readonly string[]): void {
    this.#left -= count
    if (this.#left < 0)
      refuseSize(path, `Too many: an object must have at most ${MOST_VALUES} values`)
  }
}

function refuseSize(path: readonly string[], why: string): never {
  throw new MalformedError(`${path.join('').slice(1)}: ${why}`)
}

/** As many unknown fields as Go's strict decoder reports. */
export const MAX_FINDINGS = 100

const OBJECT_META = 'meta/v1.ObjectMeta'

const FREE_FORM: ReadonlySet<string> = new Set<Scalar>(['RawExtension', 'FieldsV1'])

interface ConformOptions {
  /** As a custom resource: zero values are kept if they were sent, and none is added. */
  custom?: boolean
}

interface Conformed {
  object: JsonObject
  /**
   * The paths of unknown fields, such as `spec.containers[0].foo`; these fields are removed from the object. At most a
   * hundred.
   */
  unknown: string[]
}

/**
 * Makes a JSON value what Go's typed decoding and encoding would make of it: known fields only, in Go's order, zero values
 * dropped or kept as their tags say. Throws a MalformedError in Go's words if a value has the wrong type.
 */
export function conform(
  type: TypeSchema,
  value: unknown,
  {custom = false}: ConformOptions = {},
): Conformed {
  const pass: Pass = {custom, unknown: [], fieldStack: [], path: [], budget: new ValueBudget()}
  if (value !== null && !isObject(value)) {
    throw new MalformedError(
      `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goStruct(type.name)}`,
    )
  }
  return {object: conformStruct(type, value ?? {}, pass), unknown: pass.unknown}
}

interface Pass {
  custom: boolean
  unknown: string[]
  /** The fields around the current value, as Go's errors list them: no indexes, no keys of maps. */
  fieldStack: string[]
  /** The same as strict decoding lists them: `.spec`, `[0]`, `.key`. */
  path: string[]
  /** All later steps go through lists and maps, some more than once. */
  budget: ValueBudget
}

/** A type's JSON fields by their place in Go's order. */
interface Plan {
  fields: FieldSchema[]
  /** Each as a step of a path. */
  steps: string[]
  places: ReadonlyMap<string, number>
}

const plans = new WeakMap<TypeSchema, Plan>()

function planOf(type: TypeSchema): Plan {
  let plan = plans.get(type)
  if (plan === undefined) {
    const fields = [...type.byName.values()]
    plan = {
      fields,
      steps: fields.map(({name}) => `.${name}`),
      places: new Map(fields.map(({name}, place) => [name, place])),
    }
    plans.set(type, plan)
  }
  return plan
}

function conformStruct(type: TypeSchema, given: JsonObject, pass: Pass): JsonObject {
  const {fields, steps, places} = planOf(type)
  const values = new Array<unknown>(fields.length)
  for (const name of Object.keys(given)) {
    const place = places.get(name)
    const field = place === undefined ? undefined : fields[place]
    if (place === undefined || field === undefined) {
      if (pass.unknown.length < MAX_FINDINGS) {
        pass.unknown.push([...pass.path, stepTo(name)].join('').slice(1))
      }
      continue
    }
    const value = given[name]
    if (value !== null && value !== undefined) {
      pass.fieldStack.push(name)
      pass.path.push(steps[place] ?? '')
      values[place] = convertField(type, field, value, pass)
      pass.fieldStack.pop()
      pass.path.pop()
    }
  }

  const result: JsonObject = {}
  let place = 0
  for (const field of fields) {
    const value = values[place++]
    if (value !== undefined) result[field.name] = value
    else if (field.always && (!pass.custom || field.type === OBJECT_META))
      result[field.name] = zeroOf(field, pass)
  }
  return result
}

function zeroOf(field: FieldSchema, pass: Pass): unknown {
  if (field.pointer || field.cardinality !== 'one') return null
  return field.scalar ? zeroScalar(field.type) : conformStruct(findType(field.type), {}, pass)
}

/** Undefined if omitempty drops the value. */
function convertField(owner: TypeSchema, field: FieldSchema, value: unknown, pass: Pass): unknown {
  if (field.cardinality === 'list') {
    if (!Array.isArray(value)) return refuse(owner, goFieldType(field), jsonKind(value), pass)
    if (value.length === 0 && !pass.custom) return undefined
    pass.budget.takeItems(value.length, pass.path)
    return value.map((item, index) => convertElement(owner, field, item, `[${index}]`, pass))
  }
  if (field.cardinality === 'map') {
    if (!isObject(value)) return refuse(owner, goFieldType(field), jsonKind(value), pass)
    const keys = Object.keys(value)
    if (keys.length === 0 && !pass.custom) return undefined
    pass.budget.takeItems(keys.length, pass.path)
    const result: JsonObject = {}
    for (const key of keys) {
      setOwn(result, key, convertElement(owner, field, value[key], stepTo(key), pass))
    }
    return result
  }
  const converted = convertValue(owner, field, value, pass)
  // Empty bytes are not the same as no bytes if Go writes both.
  const kept = field.pointer || pass.custom || (field.type === 'bytes' && field.always)
  return !kept && isZero(converted) ? undefined : converted
}

/** A key in a path that is shown. */
const stepTo = (key: string) => `.${key.slice(0, MOST_STEP)}`

/** Null is an element's zero value in Go. */
function convertElement(
  owner: TypeSchema,
  field: FieldSchema,
  value: unknown,
  step: string,
  pass: Pass,
): unknown {
  if (field.scalar) {
    if (value !== null) return convertValue(owner, field, value, pass)
    return field.type === 'bytes' ? '' : zeroScalar(field.type)
  }
  pass.path.push(step)
  const converted = convertValue(owner, field, value ?? {}, pass)
  pass.path.pop()
  return converted
}

function convertValue(owner: TypeSchema, field: FieldSchema, value: unknown, pass: Pass): unknown {
  // Most values are texts, and need no function that would refuse them.
  if (field.type === 'string' && typeof value === 'string') return value
  if (FREE_FORM.has(field.type)) return pass.budget.takeFreeForm(value, pass.path)
  if (field.type === 'ExtraValue' && Array.isArray(value)) {
    pass.budget.takeItems(value.length, pass.path)
  }
  if (field.scalar) return scalarOf(owner, field, value, pass)
  if (!isObject(value)) return refuse(owner, goElementType(field), jsonKind(value), pass)
  const type = findType(field.type)
  // The metadata of a custom resource is typed, whatever the rest is.
  if (!pass.custom || field.type !== OBJECT_META) return conformStruct(type, value, pass)
  return conformStruct(type, value, {...pass, custom: false})
}

/** Apart, because what a function captures costs memory in each call of the one around it. */
function scalarOf(owner: TypeSchema, field: FieldSchema, value: unknown, pass: Pass): unknown {
  return convertScalar(field, value, (found) => refuse(owner, goElementType(field), found, pass))
}

function refuse(owner: TypeSchema, goType: string, found: string, pass: Pass): never {
  const struct = owner.name.slice(owner.name.lastIndexOf('.') + 1)
  throw new MalformedError(
    `json: cannot unmarshal ${found} into Go struct field ${struct}.${pass.fieldStack.join('.')} of type ${goType}`,
  )
}

const SCALAR_NAMES: Record<string, string> = {
  double: 'float64',
  bytes: '[]uint8',
  Time: 'v1.Time',
  MicroTime: 'v1.MicroTime',
  Quantity: 'resource.Quantity',
  IntOrString: 'intstr.IntOrString',
  RawExtension: 'runtime.RawExtension',
  FieldsV1: 'v1.FieldsV1',
  ExtraValue: 'v1.ExtraValue',
}

/** What Go calls the type of a field's value, or of an element of its list or map. */
function goElementType({type, goType}: FieldSchema): string {
  return goType ?? SCALAR_NAMES[type] ?? goStruct(type)
}

/** What Go calls the type of a field, as its decoder's errors name it. */
function goFieldType(field: FieldSchema): string {
  const element = goElementType(field)
  if (field.cardinality === 'list') return `[]${element}`
  if (field.cardinality === 'one') return element
  return field.type === 'Quantity' ? 'v1.ResourceList' : `map[string]${element}`
}

/** `core/v1.PodSpec` is `v1.PodSpec` in Go; scalars keep their names. */
const goStruct = (type: string) => type.slice(type.lastIndexOf('/') + 1)
