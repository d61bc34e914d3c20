import fc from 'fast-check'
import {findType} from '../../../src/api/schema/index.ts'
import type {FieldSchema, TypeSchema} from '../../../src/api/schema/index.ts'

const text = fc.string({maxLength: 8})
const seconds = fc
  .integer({min: 0, max: 4_000_000_000})
  .map((value) => `${new Date(value * 1000).toISOString().slice(0, 19)}Z`)

const SCALARS: Record<string, fc.Arbitrary<unknown>> = {
  string: text,
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.maxSafeInteger(),
  double: fc.double({noNaN: true, noDefaultInfinity: true}),
  bytes: fc.uint8Array({maxLength: 8}).map((bytes) => Buffer.from(bytes).toString('base64')),
  Time: seconds,
  MicroTime: seconds.map((value) => value.replace('Z', '.123456Z')),
  Quantity: fc.constantFrom('1', '500m', '2Gi', '100k', '0'),
  IntOrString: fc.oneof(fc.integer(), text),
  RawExtension: fc.dictionary(text, fc.integer(), {maxKeys: 2}),
  FieldsV1: fc.constant({'f:data': {'f:a': {}}}),
  ExtraValue: fc.array(text, {minLength: 1, maxLength: 2}),
}

/** Values as a client may send them; about one field in four is there. */
export function arbitraryObject(type: TypeSchema): fc.Arbitrary<Record<string, unknown>> {
  const fields = [...type.byName.values()].filter(({number}) => number > 0)
  return fc
    .subarray(fields, {maxLength: Math.ceil(fields.length / 4)})
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((field) => [field.name, arbitraryField(field)]))),
    )
}

function arbitraryField(field: FieldSchema): fc.Arbitrary<unknown> {
  const one = field.scalar
    ? (SCALARS[field.type] ?? text)
    : fc.constant(field.type).chain((name) => arbitraryObject(findType(name)))
  if (field.cardinality === 'list') return fc.array(one, {maxLength: 2})
  return field.cardinality === 'map' ? fc.dictionary(text, one, {maxKeys: 2}) : one
}
