import protobuf from 'protobufjs/minimal.js'
import {findType} from '../../../src/api/schema/index.ts'
import type {FieldSchema, TypeSchema} from '../../../src/api/schema/index.ts'
import type {JsonObject} from '../../../src/server/kernel/json-value.ts'
import {WIRE} from '../../../src/server/codec/protobuf-reader.ts'
import {MAGIC} from '../../../src/server/codec/protobuf.ts'

type Writer = protobuf.Writer

/** A body as client-go writes it, byte for byte: fields by number, including zero values of non-pointers. */
export function encodeProtobuf(type: TypeSchema, object: JsonObject): Uint8Array {
  const {apiVersion, kind} = object as {apiVersion?: string; kind?: string}
  const writer = protobuf.Writer.create()
  nested(writer, 1, (inner) => {
    inner.uint32(tag(1, WIRE.bytes)).string(apiVersion ?? '')
    inner.uint32(tag(2, WIRE.bytes)).string(kind ?? '')
  })
  nested(writer, 2, (inner) => writeStruct(inner, type, object))
  writer.uint32(tag(3, WIRE.bytes)).string('')
  writer.uint32(tag(4, WIRE.bytes)).string('')
  return Buffer.concat([MAGIC, writer.finish()])
}

const tag = (number: number, wireType: number) => ((number << 3) | wireType) >>> 0

function nested(writer: Writer, number: number, write: (writer: Writer) => void): void {
  writer.uint32(tag(number, WIRE.bytes)).fork()
  write(writer)
  writer.ldelim()
}

function writeStruct(writer: Writer, type: TypeSchema, object: JsonObject): void {
  const fields = [...type.byNumber.values()].sort((a, b) => a.number - b.number)
  for (const field of fields) {
    if (field.inline) {
      nested(writer, field.number, (inner) => writeStruct(inner, findType(field.type), object))
    } else {
      writeField(writer, field, object[field.name])
    }
  }
}

function writeField(writer: Writer, field: FieldSchema, value: unknown): void {
  const isAbsent = value === undefined || value === null
  if (field.cardinality === 'list') {
    for (const item of isAbsent ? [] : (value as unknown[])) writeValue(writer, field, item)
  } else if (field.cardinality === 'map') {
    for (const [key, item] of Object.entries(isAbsent ? {} : value).sort(byKey)) {
      nested(writer, field.number, (inner) => {
        inner.uint32(tag(1, WIRE.bytes)).string(key)
        writeValue(inner, {...field, number: 2}, item)
      })
    }
  } else if (!isAbsent || (!field.pointer && field.type !== 'bytes')) {
    writeValue(writer, field, value)
  }
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : a > b ? 1 : 0)

function writeValue(writer: Writer, field: FieldSchema, value: unknown): void {
  const {number} = field
  switch (field.scalar ? field.type : '') {
    case 'string':
      writer.uint32(tag(number, WIRE.bytes)).string((value as string | undefined) ?? '')
      break
    case 'bool':
      writer.uint32(tag(number, WIRE.varint)).bool(value === true)
      break
    case 'int32':
      writer.uint32(tag(number, WIRE.varint)).int32((value as number | undefined) ?? 0)
      break
    case 'int64':
      writer.uint32(tag(number, WIRE.varint)).int64((value as number | undefined) ?? 0)
      break
    case 'double':
      writer.uint32(tag(number, WIRE.fixed64)).double((value as number | undefined) ?? 0)
      break
    case 'bytes':
      writer
        .uint32(tag(number, WIRE.bytes))
        .bytes(Buffer.from((value as string | undefined) ?? '', 'base64'))
      break
    default:
      nested(writer, number, (inner) => writeNested(inner, field, value))
  }
}

function writeNested(writer: Writer, field: FieldSchema, value: unknown): void {
  switch (field.scalar ? field.type : '') {
    case 'Time':
    case 'MicroTime':
      if (typeof value === 'string') writeTime(writer, value)
      break
    case 'Quantity':
      writer.uint32(tag(1, WIRE.bytes)).string((value as string | undefined) ?? '0')
      break
    case 'ExtraValue':
      for (const item of (value ?? []) as string[]) writer.uint32(tag(1, WIRE.bytes)).string(item)
      break
    case 'IntOrString':
      writer.uint32(tag(1, WIRE.varint)).int64(typeof value === 'string' ? 1 : 0)
      writer.uint32(tag(2, WIRE.varint)).int32(typeof value === 'number' ? value : 0)
      writer.uint32(tag(3, WIRE.bytes)).string(typeof value === 'string' ? value : '')
      break
    case 'RawExtension':
    case 'FieldsV1':
      writer.uint32(tag(1, WIRE.bytes)).string(JSON.stringify(value))
      break
    default:
      writeStruct(writer, findType(field.type), (value ?? {}) as JsonObject)
  }
}

function writeTime(writer: protobuf.Writer, text: string): void {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  writer.uint32(8).int64(Math.floor(Date.parse(text) / 1000))
  writer.uint32(16).int32(Number(fraction.padEnd(9, '0').slice(0, 9)))
}
