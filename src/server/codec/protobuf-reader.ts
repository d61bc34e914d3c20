import protobuf from 'protobufjs/minimal.js'
import {MalformedError} from './decode-error.ts'

export type ProtobufReader = protobuf.Reader

export const WIRE = {varint: 0, fixed64: 1, bytes: 2} as const

export const openReader = (bytes: Uint8Array): ProtobufReader => protobuf.Reader.create(bytes)

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
    const tag = reader.uint32()
    const number = tag >>> 3
    const wireType = tag & 7
    if (number === 0) throw new MalformedError(`proto: illegal tag 0 (wire type ${wireType})`)
    if (!take(number, wireType)) reader.skipType(wireType)
  }
}

/** Numbers above 2^53 come out rounded, as they do from JSON. */
export const readInt64 = (reader: ProtobufReader): number => Number(reader.int64())
