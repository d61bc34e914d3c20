/**
 * The shape of every served kind, as data. One table drives protobuf decoding, strict decoding, OpenAPI, `kubectl explain`,
 * strategic merge and server-side apply.
 */

export type Scalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  /** Raw bytes in protobuf, base64 in JSON. */
  | 'bytes'
  /** RFC 3339 with seconds in JSON. */
  | 'Time'
  /** RFC 3339 with microseconds in JSON. */
  | 'MicroTime'
  | 'Quantity'
  | 'IntOrString'
  /** Any JSON value; `{1 raw:bytes}` in protobuf. */
  | 'RawExtension'
  /** The JSON text of a field set; `{1 Raw:bytes}` in protobuf. */
  | 'FieldsV1'

export interface FieldSchema {
  /** The field's number in protobuf. */
  number: number
  /** The field's name in JSON. */
  name: string
  /** A scalar's name, or the full name of another type of the table, such as `core/v1.PodSpec`. */
  type: string
  /** `type` names a scalar. */
  scalar: boolean
  cardinality: 'one' | 'list' | 'map'
  /** A Go pointer: presence counts even where the value is zero. */
  pointer: boolean
  /** Not omitempty: on the wire even where it is zero. */
  always: boolean
  /** A nested message in protobuf whose fields stand in the parent in JSON. */
  inline: boolean
  /** The OpenAPI document lists it as required. */
  required: boolean
  /** How strategic merge treats it; lists are replaced whole where this is absent. */
  patch?: {merge: boolean; key?: string; retainKeys: boolean}
  /** How server-side apply treats a list (`atomic` where absent) or a map or struct (`granular` where absent). */
  list?: {type: 'atomic' | 'set'} | {type: 'map'; keys: string[]}
  atomic: boolean
  description: string
}

export interface TypeSchema {
  /** The full name, such as `core/v1.ConfigMap` or `meta/v1.ObjectMeta`. */
  name: string
  description: string
  fields: FieldSchema[]
  byName: ReadonlyMap<string, FieldSchema>
  byNumber: ReadonlyMap<number, FieldSchema>
}
