import {once} from 'node:events'
import {connect, type TLSSocket} from 'node:tls'

/*
 * A program: sends many requests over few HTTP/1.1 connections and prints how many were answered. It is a process of its own,
 * because a client in the server's process never asks while the server is still sending.
 */

/** Around what a server sends in one piece, what a TLS record holds and what sockets buffer. */
const SIZES = [0, 700, 16_384, 5, 30, 65_537, 3, 100, 8, 100_000, 1, 40, 200_000, 12, 900, 4000, 7]
const PIPELINED = 25

interface Exchange {
  request: Buffer
  /** Of the answer's body. */
  length: number
}

const sizeAt = (index: number) => SIZES[index % SIZES.length] ?? 0

/** Every size of a request meets every size of an answer. */
function exchangeAt(index: number): Exchange {
  const length = sizeAt(index)
  const body = Buffer.alloc(sizeAt(index + Math.floor(index / SIZES.length)))
  const head = `PUT /${length} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`
  return {request: Buffer.concat([Buffer.from(head), body]), length}
}

/** Reads the answers on a connection one after the other. */
class Answers {
  readonly #chunks: AsyncIterator<Buffer>
  #unread: Buffer = Buffer.alloc(0)

  constructor(socket: TLSSocket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async expect(length: number): Promise<void> {
    while (!this.#unread.includes('\r\n\r\n')) await this.#more()
    const end = this.#unread.indexOf('\r\n\r\n')
    const head = this.#unread.subarray(0, end).toString()
    if (!head.startsWith('HTTP/1.1 200 ') || !head.includes(`Content-Length: ${length}`)) {
      throw new Error(head)
    }
    let left = end + 4 + length
    while (left > this.#unread.length) {
      left -= this.#unread.length
      this.#unread = Buffer.alloc(0)
      await this.#more()
    }
    this.#unread = this.#unread.subarray(left)
  }

  async #more(): Promise<void> {
    const {value, done} = await this.#chunks.next()
    if (done === true) throw new Error('the server closed the connection')
    this.#unread = Buffer.concat([this.#unread, value])
  }
}

async function run(port: number, requests: number): Promise<number> {
  const socket = connect({host: '127.0.0.1', port, ca: process.env.SERVER_CA})
  await once(socket, 'secureConnect')
  const answers = new Answers(socket)
  let answered = 0
  for (let index = 0; index < requests; index++, answered++) {
    const {request, length} = exchangeAt(index)
    socket.write(request)
    await answers.expect(length)
  }
  for (let index = 0; index < requests; index += PIPELINED) {
    const batch = Array.from({length: PIPELINED}, (_, at) => exchangeAt(index + at))
    for (const {request} of batch) socket.write(request)
    for (const {length} of batch) {
      await answers.expect(length)
      answered++
    }
  }
  socket.destroy()
  return answered
}

const [port = 0, connections = 0, requests = 0] = process.argv.slice(2).map(Number)
const answered = await Promise.all(Array.from({length: connections}, () => run(port, requests)))
console.log(answered.reduce((sum, one) => sum + one))
