import {findType} from '../../api/schema/index.ts'
import type {FieldSchema, TypeSchema} from '../../api/schema/index.ts'
import {setOwn, type JsonObject} from '../kernel/json-value.ts'
import {StatusError} from '../kernel/status.ts'
import {MalformedError} from './decode-error.ts'
import {parseJson} from './json.ts'
import {
  countFields,
  openReader,
  type ProtobufReader,
  readFields,
  readInt64,
  readMessage,
  readTime,
  WIRE,
} from './protobuf-reader.ts'

/** `k8s\0`, before the envelope. */
export const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

export interface Envelope {
  apiVersion: string
  kind: string
  /** The object's own message. */
  raw: Uint8Array
}

/** Opens a body as Kubernetes' protobuf serializer does: the magic bytes, then runtime.Unknown. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new MalformedError('empty data')
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) {
    throw new MalformedError(
      `provided data does not appear to be a protobuf message, expected prefix [${MAGIC.join(' ')}]`,
    )
  }
  if (bytes.length === MAGIC.length) throw new MalformedError('empty body')
  const envelope: Envelope = {apiVersion: '', kind: '', raw: new Uint8Array()}
  reading(bytes.subarray(MAGIC.length), (reader) => {
    readFields(reader, (number, wireType) => {
      if (wireType !== WIRE.bytes) return false
      if (number === 1) readMessage(reader, (inner) => readTypeMeta(inner, envelope))
      else if (number === 2) envelope.raw = reader.bytes()
      return number <= 2
    })
  })
  return envelope
}

function readTypeMeta(reader: ProtobufReader, envelope: Envelope): void {
  readFields(reader, (number) => {
    if (number === 1) envelope.apiVersion = reader.string()
    else if (number === 2) envelope.kind = reader.string()
    return number <= 2
  })
}

/** Reads a message by its type's table into the shape it has in JSON; zero values are still there. */
export function decodeMessage(type: TypeSchema, bytes: Uint8Array): JsonObject {
  return reading(bytes, (reader) => readStruct(reader, type, {}))
}

/** The library's own errors name a position in the buffer, which is of no use to a caller. */
function reading<T>(bytes: Uint8Array, read: (reader: ProtobufReader) => T): T {
  try {
    return read(openReader(bytes))
  } catch (error) {
    if (error instanceof MalformedError || error instanceof StatusError) throw error
    throw new MalformedError('unexpected EOF')
  }
}

function readStruct(reader: ProtobufReader, type: TypeSchema, into: JsonObject): JsonObject {
  readFields(reader, (number, wireType) => {
    const field = type.byNumber.get(number)
    if (field === undefined) return false
    readField(reader, field, wireType, into)
    return true
  })
  return into
}

function readField(
  reader: ProtobufReader,
  field: FieldSchema,
  wireType: number,
  into: JsonObject,
): void {
  if (field.inline) {
    requireWire(field, wireType, WIRE.bytes)
    readMessage(reader, (inner) => readStruct(inner, findType(field.type), into))
  } else if (field.cardinality === 'map') {
    requireWire(field, wireType, WIRE.bytes)
    const map = ((into[field.name] as JsonObject | undefined) ??= {})
    readMessage(reader, (inner) => readEntry(inner, field, map))
  } else if (field.cardinality === 'list') {
    const list = ((into[field.name] as unknown[] | undefined) ??= [])
    readItems(reader, field, wireType, list)
  } else {
    requireWire(field, wireType, wireTypeOf(field))
    const value = readValue(reader, field)
    if (value !== undefined) into[field.name] = value
  }
}

/** Numbers may come one by one or packed. */
function readItems(
  reader: ProtobufReader,
  field: FieldSchema,
  wireType: number,
  list: unknown[],
): void {
  if (wireType !== WIRE.bytes || wireTypeOf(field) === WIRE.bytes) {
    requireWire(field, wireType, wireTypeOf(field))
    list.push(readValue(reader, field))
    return
  }
  readMessage(reader, (inner) => {
    while (inner.pos < inner.len) {
      countFields(inner)
      list.push(readValue(inner, field))
    }
  })
}

function readEntry(reader: ProtobufReader, field: FieldSchema, map: JsonObject): void {
  let key = ''
  let value: unknown = null
  readFields(reader, (number, wireType) => {
    if (number === 1) key = reader.string()
    else if (number === 2) {
      requireWire(field, wireType, wireTypeOf(field))
      value = readValue(reader, field) ?? null
    }
    return number <= 2
  })
  setOwn(map, key, value)
}

function readValue(reader: ProtobufReader, field: FieldSchema): unknown {
  switch (field.scalar ? field.type : '') {
    case 'string':
      return reader.string()
    case 'bool':
      return reader.bool()
    case 'int32':
      return reader.int32()
    case 'int64':
      return readInt64(reader)
    case 'double':
      return reader.double()
    case 'bytes':
      return base64(reader.bytes())
    case 'Time':
      return readMessage(reader, (inner) => readTime(inner, 0))
    case 'MicroTime':
      return readMessage(reader, (inner) => readTime(inner, 6))
    case 'Quantity':
      return readMessage(reader, (inner) => readStrings(inner)[0] ?? '0')
    case 'ExtraValue':
      return readMessage(reader, readStrings)
    case 'IntOrString':
      return readMessage(reader, readIntOrString)
    case 'RawExtension':
    case 'FieldsV1':
      return readMessage(reader, readRawJson)
    default:
      return readMessage(reader, (inner) => readStruct(inner, findType(field.type), {}))
  }
}

function wireTypeOf({scalar, type}: FieldSchema): number {
  if (scalar && (type === 'bool' || type === 'int32' || type === 'int64')) return WIRE.varint
  return scalar && type === 'double' ? WIRE.fixed64 : WIRE.bytes
}

function requireWire(field: FieldSchema, found: number, expected: number): void {
  if (found !== expected) {
    throw new MalformedError(`proto: wrong wireType = ${found} for field ${field.name}`)
  }
}

const base64 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')

function readStrings(reader: ProtobufReader): string[] {
  const strings: string[] = []
  readFields(reader, (number) => {
    if (number === 1) strings.push(reader.string())
    return number === 1
  })
  return strings
}

/** `{1 type, 2 intVal, 3 strVal}`; type 1 is a string. */
function readIntOrString(reader: ProtobufReader): string | number {
  let isString = false
  let number = 0
  let text = ''
  readFields(reader, (field) => {
    if (field === 1) isString = readInt64(reader) === 1
    else if (field === 2) number = reader.int32()
    else if (field === 3) text = reader.string()
    return field <= 3
  })
  return isString ? text : number
}

function readRawJson(reader: ProtobufReader): unknown {
  let raw: Uint8Array | undefined
  readFields(reader, (number) => {
    if (number === 1) raw = reader.bytes()
    return number === 1
  })
  if (raw === undefined || raw.length === 0) return undefined
  try {
    const {value, values} = parseJson(raw)
    countFields(reader, values)
    return value
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw new MalformedError('a raw JSON value in the message is no JSON')
  }
}
