/**
 * The shape of every served kind, as data. One table drives protobuf decoding, strict decoding, OpenAPI, `kubectl explain`,
 * strategic merge and server-side apply.
 */

export const SCALARS = [
  'string',
  'bool',
  'int32',
  'int64',
  'double',
  /** Raw bytes in protobuf, base64 in JSON. */
  'bytes',
  /** RFC 3339 with seconds in JSON. */
  'Time',
  /** RFC 3339 with microseconds in JSON. */
  'MicroTime',
  'Quantity',
  'IntOrString',
  /** Any JSON value; `{1 raw:bytes}` in protobuf. */
  'RawExtension',
  /** The JSON text of a field set; `{1 Raw:bytes}` in protobuf. */
  'FieldsV1',
  /** A list of strings in JSON, taken as a whole by server-side apply; `{1 items:[]string}` in protobuf. */
  'ExtraValue',
] as const

export type Scalar = (typeof SCALARS)[number]

export interface FieldSchema {
  /** The field's number in protobuf; 0 for `kind` and `apiVersion` of an object, which are in the envelope. */
  number: number
  /** The field's name in JSON. */
  name: string
  /** A scalar's name, or the full name of another type of the table, such as `core/v1.PodSpec`. */
  type: string
  /** `type` names a scalar. */
  scalar: boolean
  /** What Go calls the values' type in error texts, such as `v1.SecretType`; if absent, it follows from `type`. */
  goType?: string
  cardinality: 'one' | 'list' | 'map'
  /** A Go pointer: presence counts even if the value is zero. */
  pointer: boolean
  /** On the wire even if it is zero: not omitempty, or a struct, which Go's omitempty never drops. */
  always: boolean
  /** A nested message in protobuf whose fields are part of the parent in JSON. */
  inline: boolean
  /** The OpenAPI document lists it as required. */
  required: boolean
  /** The value that server-side apply uses for a missing key field of a list, such as `TCP` for a port's protocol. */
  default?: string
  /** How strategic merge treats it. If absent, lists are replaced as a whole. */
  patch?: {merge: boolean; key?: string; retainKeys: boolean}
  /** How server-side apply treats a list (`atomic` if absent) or a map or struct (`granular` if absent). */
  list?: {type: 'atomic' | 'set'} | {type: 'map'; keys: string[]}
  /** Server-side apply takes this map or struct as a whole; for elements of a list or map, see `atomic` of their type. */
  atomic: boolean
  description: string
}

export interface TypeSchema {
  /** The full name, such as `core/v1.ConfigMap` or `meta/v1.ObjectMeta`. */
  name: string
  description: string
  /** Carries `kind` and `apiVersion`. */
  object: boolean
  /** Server-side apply takes a value of this type as a whole, unless the field that holds it says otherwise. */
  atomic: boolean
  /** As declared, in the order in which Go writes them. An inlined message is one field here. */
  fields: FieldSchema[]
  /** As in JSON, in the same order: inlined messages are replaced by their fields. */
  byName: ReadonlyMap<string, FieldSchema>
  /** As in protobuf. */
  byNumber: ReadonlyMap<number, FieldSchema>
}
