import type {FieldSchema} from '../../api/schema/index.ts'

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
export function goElementType({type, goType}: FieldSchema): string {
  return goType ?? SCALAR_NAMES[type] ?? goStruct(type)
}

/** What Go calls the type of a field, as its decoder's errors name it. */
export function goFieldType(field: FieldSchema): string {
  const element = goElementType(field)
  if (field.cardinality === 'list') return `[]${element}`
  if (field.cardinality === 'one') return element
  return field.type === 'Quantity' ? 'v1.ResourceList' : `map[string]${element}`
}

/** `core/v1.PodSpec` is `v1.PodSpec` in Go; scalars keep their names. */
export const goStruct = (type: string) => type.slice(type.lastIndexOf('/') + 1)
