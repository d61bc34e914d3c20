import type protobuf from 'protobufjs/minimal.js'
import type {ProtobufReader} from './protobuf-reader.ts'
import {readFields, readInt64} from './protobuf-reader.ts'
import {MalformedError} from './decode-error.ts'

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

export function writeTime(writer: protobuf.Writer, text: string): void {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  writer.uint32(8).int64(Math.floor(Date.parse(text) / 1000))
  writer.uint32(16).int32(Number(fraction.padEnd(9, '0').slice(0, 9)))
}
