import type {Message} from './go-protobuf.ts'
import {fieldsOf} from './message-tables.ts'

/** An object of an answer as a Go client holds it, to be sent back changed. */
export function fromJson(kind: string, object: object): Message {
  const values = object as Message
  const known = fieldsOf(kind).filter(
    ({name}) => values[name] !== undefined && values[name] !== null,
  )
  return Object.fromEntries(
    known.map(({name, type, shape}) => [name, fieldFrom(type, shape, values[name])]),
  )
}

function fieldFrom(type: string, shape: string, value: unknown): unknown {
  if (shape === 'repeated') return (value as unknown[]).map((one) => valueFrom(type, one))
  if (shape !== 'map') return valueFrom(type, value)
  const entries = Object.entries(value as Message)
  return Object.fromEntries(entries.map(([key, one]) => [key, valueFrom(type, one)]))
}

function valueFrom(type: string, value: unknown): unknown {
  switch (type) {
    case 'bytes':
      return Buffer.from(value as string, 'base64')
    case 'Time':
      return new Date(value as string)
    case 'FieldsV1':
      return {Raw: Buffer.from(JSON.stringify(value))}
    case 'string':
    case 'int':
    case 'bool':
    case 'Quantity':
    case 'ExtraValue':
      return value
    default:
      return fromJson(type, value as object)
  }
}
