import {createHash, randomBytes} from 'node:crypto'
import type {Duplex} from 'node:stream'
import type {Endpoint} from './endpoints.ts'
import {connectionFailure, EtcdFailure} from './failure.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const CONTINUATION = 0
const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10
const LAST = 0x80
const MASKED = 0x80
/** The largest batch of changes that etcd sends has 1000 revisions; it fragments what is longer than a request may be. */
const LONGEST_MESSAGE = 256 * 1_024 * 1_024

/**
 * Messages both ways over one connection: a plain request cannot send anything more once its answer has begun. Messages are read from
 * the socket as they are asked for.
 */
export class WebSocketConnection {
  readonly server: string
  readonly #socket: Duplex

  private constructor(server: string, socket: Duplex) {
    this.server = server
    this.#socket = socket
    // Whoever reads or writes gets it too.
    socket.on('error', () => undefined)
  }

  static async open(
    {streams, server}: Endpoint,
    path: string,
    timeout: number,
  ): Promise<WebSocketConnection> {
    const key = randomBytes(16).toString('base64')
    try {
      const {headers, socket} = await streams.upgrade({
        path,
        protocol: 'websocket',
        headers: {'sec-websocket-version': '13', 'sec-websocket-key': key},
        signal: AbortSignal.timeout(timeout),
      })
      const expected = createHash('sha1')
        .update(key + GUID)
        .digest('base64')
      if (headers['sec-websocket-accept'] === expected)
        return new WebSocketConnection(server, socket)
      socket.destroy()
    } catch (error) {
      throw connectionFailure(error, server)
    }
    throw new EtcdFailure('unsent', `${server} does not answer as etcd does`)
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text))
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Ends when the other side closes the connection; throws if it is cut. */
  async *messages(): AsyncGenerator<string> {
    let parts: Buffer[] = []
    for await (const {opcode, isLast, payload} of framesOf(this.#socket as AsyncIterable<Buffer>)) {
      if (opcode === CLOSE) return
      if (opcode === PING) this.#write(PONG, payload)
      if (opcode !== TEXT && opcode !== BINARY && opcode !== CONTINUATION) continue
      parts.push(payload)
      if (!isLast) continue
      const text = Buffer.concat(parts).toString()
      parts = []
      yield text
    }
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.#socket.destroyed) return
    const mask = randomBytes(4)
    const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
    this.#socket.write(Buffer.concat([headOf(opcode, payload.length), mask, masked]))
  }
}

function headOf(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([LAST | opcode, MASKED | length])
  const head = Buffer.alloc(4)
  head.writeUInt8(LAST | opcode, 0)
  head.writeUInt8(MASKED | 126, 1)
  head.writeUInt16BE(length, 2)
  return head
}

interface Frame {
  opcode: number
  isLast: boolean
  payload: Buffer
}

async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let pending: Buffer[] = []
  let size = 0
  let needed = 2
  for await (const chunk of chunks) {
    pending.push(chunk)
    size += chunk.length
    if (size < needed) continue
    let bytes = pending.length === 1 ? chunk : Buffer.concat(pending, size)
    for (let head = readHead(bytes); ; head = readHead(bytes)) {
      needed = head ? head.start + head.length : bytes.length + 1
      if (!head || bytes.length < needed) break
      yield {...head, payload: bytes.subarray(head.start, needed)}
      bytes = bytes.subarray(needed)
    }
    pending = bytes.length > 0 ? [bytes] : []
    size = bytes.length
  }
}

/** Undefined if not all of the frame's head has arrived. */
function readHead(
  bytes: Buffer,
): {opcode: number; isLast: boolean; start: number; length: number} | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes.readUInt8(1) & 0x7f
  const start = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < start) return undefined
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  if (length > LONGEST_MESSAGE)
    throw new EtcdFailure('refused', `etcd sent a message of ${length} bytes`)
  const first = bytes.readUInt8(0)
  return {opcode: first & 0x0f, isLast: (first & LAST) !== 0, start, length}
}
