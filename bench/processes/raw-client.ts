import {once} from 'node:events'
import {connect, type TLSSocket} from 'node:tls'
import type {Target} from './target.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const HEAD_END = Buffer.from('\r\n\r\n')

/** HTTP/1.1 by hand on one TLS connection: a client that costs so little that the server is what gets measured. */
export class RawClient {
  readonly #socket: TLSSocket
  #head: Buffer = Buffer.alloc(0)
  #missing = 0
  #status = 0
  /** Of the newest answer's body. */
  answerBytes = 0
  #done: (status: number) => void = () => undefined
  #failed: (error: Error) => void = () => undefined

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new Error('the server closed the connection')))
  }

  static async connect(target: Target): Promise<RawClient> {
    return new RawClient(await secureSocket(target))
  }

  /** Sends a request and reads its whole answer; gives the status. One at a time. */
  async send(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#failed = () => undefined
    this.#socket.destroy()
  }

  #receive(bytes: Buffer): void {
    if (this.#missing > 0) {
      this.#take(bytes.length)
      return
    }
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    const end = this.#head.indexOf(HEAD_END)
    if (end === -1) return
    const text = this.#head.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
    this.#status = Number(text.slice(9, 12))
    this.#missing = length
    this.answerBytes = length
    const body = this.#head.length - end - HEAD_END.length
    this.#head = Buffer.alloc(0)
    this.#take(body)
  }

  #take(bytes: number): void {
    this.#missing -= bytes
    if (this.#missing === 0) this.#done(this.#status)
    else if (!(this.#missing > 0)) this.#failed(new Error('the answer has no length, or another'))
  }
}

/** A connection that listens to a watch and counts its events: lines, which the framing of chunks has none of. */
export class RawWatcher {
  readonly #socket: TLSSocket
  #last = 0

  private constructor(socket: TLSSocket, onEvents: (count: number) => void) {
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => onEvents(this.#count(bytes)))
  }

  /** Ends once the answer has begun. */
  static async open(
    target: Target,
    path: string,
    onEvents: (count: number) => void,
  ): Promise<RawWatcher> {
    const socket = await secureSocket(target)
    const watcher = new RawWatcher(socket, onEvents)
    const begun = once(socket, 'data')
    socket.write(requestText({method: 'GET', path}))
    await begun
    return watcher
  }

  close(): void {
    this.#socket.destroy()
  }

  #count(bytes: Buffer): number {
    let count = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
      if ((at === 0 ? this.#last : bytes[at - 1]) !== CARRIAGE_RETURN) count++
    }
    this.#last = bytes.at(-1) ?? this.#last
    return count
  }
}

export interface RawRequest {
  method: string
  path: string
  body?: string
}

export function requestText({method, path, body}: RawRequest): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench/1\r\nAccept: application/json\r\n`
  if (body === undefined) return `${head}\r\n`
  const length = Buffer.byteLength(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

async function secureSocket({port, certificate, key}: Target): Promise<TLSSocket> {
  // Nothing is told to the server that it does not have already: it is not checked who it is.
  const socket = connect({
    host: '127.0.0.1',
    port,
    cert: certificate,
    key,
    rejectUnauthorized: false,
  })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  return socket
}
