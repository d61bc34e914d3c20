import {fieldsOf, type Field} from './message-tables.ts'

/** An object as a Go program holds it, by the names of its JSON. Bytes are Buffers, times are Dates, quantities are texts. */
export type Message = Record<string, unknown>

const MAGIC = Buffer.from('6b387300', 'hex')
const VARINT = 0
const DELIMITED = 2

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  do {
    const more = rest > 0x7fn
    bytes.push(Number(rest & 0x7fn) | (more ? 0x80 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return Buffer.from(bytes)
}

const tagged = (number: number, wire: number, ...parts: Buffer[]) =>
  Buffer.concat([varint(BigInt((number << 3) | wire)), ...parts])

const delimited = (number: number, content: Buffer) =>
  tagged(number, DELIMITED, varint(BigInt(content.length)), content)

/** One value, empty if there is none: Go's zero values are sent too. */
function encodeValue(number: number, type: string, value: unknown): Buffer {
  switch (type) {
    case 'string':
      return delimited(number, Buffer.from((value ?? '') as string))
    case 'bytes':
      return delimited(number, (value ?? Buffer.alloc(0)) as Buffer)
    case 'int':
      return tagged(number, VARINT, varint(BigInt((value ?? 0) as number)))
    case 'bool':
      return tagged(number, VARINT, varint(value ? 1n : 0n))
    case 'Time':
      return delimited(number, value === undefined ? Buffer.alloc(0) : timeOf(value as Date))
    case 'Quantity':
      return delimited(number, encodeMessage(type, {string: value}))
    case 'ExtraValue':
      return delimited(number, encodeMessage(type, {items: value}))
    default:
      return delimited(number, encodeMessage(type, (value ?? {}) as Message))
  }
}

function timeOf(date: Date): Buffer {
  const seconds = Math.floor(date.getTime() / 1000)
  const nanos = (date.getTime() - seconds * 1000) * 1_000_000
  return Buffer.concat([encodeValue(1, 'int', seconds), encodeValue(2, 'int', nanos)])
}

function encodeField({number, type, shape}: Field, value: unknown): Buffer[] {
  switch (shape) {
    case 'repeated':
      return ((value ?? []) as unknown[]).map((one) => encodeValue(number, type, one))
    case 'map':
      return Object.entries((value ?? {}) as Message)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, one]) =>
          delimited(
            number,
            Buffer.concat([encodeValue(1, 'string', key), encodeValue(2, type, one)]),
          ),
        )
    case 'if set':
      return value === undefined ? [] : [encodeValue(number, type, value)]
    case 'always':
      return [encodeValue(number, type, value)]
  }
}

function encodeMessage(name: string, message: Message): Buffer {
  const fields = fieldsOf(name)
  const unknown = Object.keys(message).find((key) => !fields.some((field) => field.name === key))
  if (unknown) throw new Error(`${name} has no field ${unknown}`)
  return Buffer.concat(fields.flatMap((field) => encodeField(field, message[field.name])))
}

/** A body as client-go writes it: the magic, then the kind and the object's message. */
export function goProtobuf(apiVersion: string, kind: string, message: Message = {}): Buffer {
  const typeMeta = [encodeValue(1, 'string', apiVersion), encodeValue(2, 'string', kind)]
  return Buffer.concat([
    MAGIC,
    delimited(1, Buffer.concat(typeMeta)),
    delimited(2, encodeMessage(kind, message)),
    encodeValue(3, 'string', ''),
    encodeValue(4, 'string', ''),
  ])
}
