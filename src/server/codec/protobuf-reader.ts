import protobuf from 'protobufjs/minimal.js'
import {tooLarge} from '../kernel/status.ts'
import {MalformedError} from './decode-error.ts'

export interface ProtobufReader extends protobuf.Reader {
  /** How many more fields may be read. */
  fieldsLeft: number
}

/**
 * The most fields of a message and all messages in it; an item of a list and an entry of a map are fields too. Twice the values of a JSON
 * document: an entry has a field for its key.
 */
const MAX_FIELDS = 100_000

export const WIRE = {varint: 0, fixed64: 1, bytes: 2} as const

export const openReader = (bytes: Uint8Array): ProtobufReader =>
  Object.assign(protobuf.Reader.create(bytes), {fieldsLeft: MAX_FIELDS})

/** Counts fields before they become anything in memory. */
export function countFields(reader: ProtobufReader, fields = 1): void {
  reader.fieldsLeft -= fields
  if (reader.fieldsLeft < 0)
    throw tooLarge(`Request entity too large: limit is ${MAX_FIELDS} fields in a protobuf message`)
}

/** Reads a length, then exactly that many bytes as one message. */
export function readMessage<T>(reader: ProtobufReader, read: (reader: ProtobufReader) => T): T {
  const length = reader.uint32()
  const outer = reader.len
  const end = reader.pos + length
  if (end > outer) throw new MalformedError('unexpected EOF')
  reader.len = end
  const result = read(reader)
  if (reader.pos !== end) throw new MalformedError('unexpected EOF')
  reader.len = outer
  return result
}

/** Calls `take` for each field, and skips the fields that it does not read. */
export function readFields(
  reader: ProtobufReader,
  take: (number: number, wireType: number) => boolean,
): void {
  while (reader.pos < reader.len) {
    countFields(reader)
    const tag = reader.uint32()
    const number = tag >>> 3
    const wireType = tag & 7
    if (number === 0) throw new MalformedError(`proto: illegal tag 0 (wire type ${wireType})`)
    if (!take(number, wireType)) reader.skipType(wireType)
  }
}

/** Numbers above 2^53 come out rounded, as they do from JSON. */
export const readInt64 = (reader: ProtobufReader): number => Number(reader.int64())

const YEAR_10000 = 253_402_300_800

/** `{1 seconds, 2 nanos}`; an empty message is a time that was never set. */
export function readTime(reader: ProtobufReader, digits: 0 | 6): string | undefined {
  let seconds: number | undefined
  let nanos = 0
  readFields(reader, (number) => {
    if (number === 1) seconds = readInt64(reader)
    else if (number === 2) nanos = reader.int32()
    return number === 1 || number === 2
  })
  if (seconds === undefined) return undefined
  if (Math.abs(seconds) >= YEAR_10000) throw new MalformedError('proto: time is out of range')
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19)
  const micros = String(Math.floor(nanos / 1000)).padStart(6, '0')
  return digits === 0 ? `${whole}Z` : `${whole}.${micros}Z`
}
