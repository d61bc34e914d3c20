import protobuf from 'protobufjs/minimal.js'

import type {V2Document, V2Parameter} from './v2.ts'

/**
 * The media type of the protobuf form. kubectl asks for it with "@v1.0", which Go itself does not parse as a media type. The
 * response has a dot there, as in Kubernetes.
 */
export const GNOSTIC_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

type Writer = protobuf.Writer
/** Writes one value as the field with this number. */
type Encode = (writer: Writer, number: number, value: unknown) => void
/** The fields of a message: their name in JSON, their number in gnostic's OpenAPIv2.proto, how they are written. */
type FieldTable = Record<string, [number: number, encode: Encode]>

const VARINT = 0
const LENGTH_DELIMITED = 2

const tag = (number: number, wireType: number) => (number << 3) | wireType

const text: Encode = (writer, number, value) => {
  writer.uint32(tag(number, LENGTH_DELIMITED)).string(String(value))
}

const flag: Encode = (writer, number, value) => {
  writer.uint32(tag(number, VARINT)).bool(value === true)
}

function nested(writer: Writer, number: number, write: () => void): void {
  writer.uint32(tag(number, LENGTH_DELIMITED)).fork()
  write()
  writer.ldelim()
}

/** A message that holds nothing but one field: gnostic wraps whatever may take several forms. */
const within =
  (inner: number, encode: Encode): Encode =>
  (writer, number, value) =>
    nested(writer, number, () => encode(writer, inner, value))

const repeated =
  (encode: Encode): Encode =>
  (writer, number, values) => {
    for (const value of values as unknown[]) encode(writer, number, value)
  }

/** One pair of a map: 1 is its name, 2 its value. */
const pair = (writer: Writer, number: number, name: string, encode: Encode, value: unknown) =>
  nested(writer, number, () => {
    text(writer, 1, name)
    encode(writer, 2, value)
  })

/** A map, which gnostic keeps as a message with repeated pairs. */
const map =
  (inner: number, encode: Encode): Encode =>
  (writer, number, values) =>
    nested(writer, number, () => {
      for (const [name, value] of Object.entries(values as object)) {
        pair(writer, inner, name, encode, value)
      }
    })

/** gnostic's Any: the value as YAML, of which JSON is a part. */
const any = within(2, (writer, number, value) => text(writer, number, JSON.stringify(value)))

function writeFields(writer: Writer, table: FieldTable, extensions: number, value: object): void {
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue
    const field = table[name]
    if (field !== undefined) field[1](writer, field[0], part)
    else if (name.startsWith('x-')) pair(writer, extensions, name, any, part)
    else throw new RangeError(`gnostic's table has no field for ${name}`)
  }
}

const message =
  (table: FieldTable, extensions: number): Encode =>
  (writer, number, value) =>
    nested(writer, number, () => writeFields(writer, table, extensions, value as object))

const schema: Encode = (writer, number, value) =>
  nested(writer, number, () => writeFields(writer, SCHEMA, 31, value as object))

const SCHEMA: FieldTable = {
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  required: [19, repeated(text)],
  additionalProperties: [21, within(1, schema)],
  type: [22, within(1, text)],
  items: [23, within(1, schema)],
  properties: [25, map(1, schema)],
}

const bodyParameter = message(
  {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, schema],
  },
  6,
)

const queryParameter = message(
  {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  },
  23,
)

const pathParameter = message(
  {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  },
  22,
)

/** The path of each form of a parameter in gnostic's nested alternatives. */
const PARAMETER_FORMS: Record<V2Parameter['in'], Encode> = {
  body: within(1, within(1, bodyParameter)),
  query: within(1, within(2, within(3, queryParameter))),
  path: within(1, within(2, within(4, pathParameter))),
}

const parameter: Encode = (writer, number, value) => {
  // The outermost of the nested messages is the list's element itself.
  const form = value as V2Parameter
  PARAMETER_FORMS[form.in](writer, number, form)
}

const response = message({description: [1, text], schema: [2, within(1, schema)]}, 5)

const operation = message(
  {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, repeated(parameter)],
    responses: [9, map(1, within(1, response))],
  },
  13,
)

const pathItem = message(
  {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    patch: [8, operation],
  },
  10,
)

const DOCUMENT: FieldTable = {
  swagger: [1, text],
  info: [2, message({title: [1, text], version: [2, text]}, 7)],
  paths: [8, map(2, pathItem)],
  definitions: [9, map(1, schema)],
}

/** An OpenAPI v2 document as gnostic's protobuf. */
export function encodeGnostic(document: V2Document): Uint8Array {
  const writer = protobuf.Writer.create()
  writeFields(writer, DOCUMENT, 16, document)
  return writer.finish()
}
