import assert from 'node:assert/strict'
import {once} from 'node:events'
import {connect, type ClientHttp2Session, type OutgoingHttpHeaders} from 'node:http2'
import {Agent, request as requestHttps} from 'node:https'
import type {Readable} from 'node:stream'
import {connect as connectTls} from 'node:tls'
import {WatchStream} from './watch-stream.ts'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'
/** What typed clients of kubeadm and the kubelet accept. */
export const TYPED = `${PROTOBUF},application/json`

export const PROTOCOLS = ['h2', 'http/1.1'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface GoClientOptions {
  server: string
  protocol: Protocol
  userAgent: string
  /** The authorities to verify the server by; without them it is believed whatever it shows. */
  ca?: string
  credentials?: {certificate: string; key: string}
  bearer?: string
  accept?: string
}

export interface Call {
  method: string
  path: string
  body?: Buffer
  /** Of the body; protobuf where nothing else is said. */
  type?: string
  accept?: string
}

export interface Answer {
  status: number
  /** Of the answer's body. */
  type: string
  text: string
  /** What the text is as JSON, as clients read it. */
  object: Record<string, unknown>
}

interface Streamed {
  status: number
  type: string
  body: Readable
  /** Gives up on the rest of it. */
  end: () => void
}

/** Sends what Go's HTTP client sends, over one connection that is kept: real TLS, with HTTP/2 or HTTP/1.1 by ALPN. */
export class GoClient {
  readonly #options: GoClientOptions
  readonly #agent = new Agent({keepAlive: true, ALPNProtocols: ['http/1.1']})
  #session: Promise<ClientHttp2Session> | undefined

  constructor(options: GoClientOptions) {
    this.#options = options
  }

  /** The same client with other credentials, on connections of its own. */
  with(changes: Partial<GoClientOptions>): GoClient {
    return new GoClient({...this.#options, ...changes})
  }

  async call(call: Call): Promise<Answer> {
    const {status, type, body} = await this.#send(call)
    let text = ''
    body.setEncoding('utf8')
    for await (const part of body) text += part as string
    // Where it is missing, client-go takes the answer for protobuf.
    assert.notEqual(type, '', `${call.method} ${call.path}: an answer without a content type`)
    const json = type.startsWith('application/json')
    return {status, type, text, object: json ? (JSON.parse(text) as Answer['object']) : {}}
  }

  /** An answer that has to have a certain status; what it was is told otherwise. */
  async expect(status: number, call: Call): Promise<Answer> {
    const answer = await this.call(call)
    assert.equal(answer.status, status, `${call.method} ${call.path}: ${answer.text}`)
    return answer
  }

  get = (path: string, status = 200): Promise<Answer> => this.expect(status, {method: 'GET', path})

  post = (path: string, body: Buffer, status = 201): Promise<Answer> =>
    this.expect(status, {method: 'POST', path, body})

  put = (path: string, body: Buffer, status = 200): Promise<Answer> =>
    this.expect(status, {method: 'PUT', path, body})

  /** Opens a watch; its headers have to come before any event. */
  async watch(path: string): Promise<WatchStream> {
    const {status, type, body, end} = await this.#send({method: 'GET', path})
    assert.equal(status, 200, `watch ${path}`)
    assert.equal(type, 'application/json')
    return new WatchStream(body, end)
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    const session = await this.#session
    session?.destroy()
  }

  #headers({body, type, accept}: Call): OutgoingHttpHeaders {
    const {bearer, userAgent} = this.#options
    return {
      accept: accept ?? this.#options.accept ?? TYPED,
      'accept-encoding': 'gzip',
      'user-agent': userAgent,
      ...(bearer && {authorization: `Bearer ${bearer}`}),
      ...(body && {'content-type': type ?? PROTOBUF, 'content-length': body.length}),
    }
  }

  #send(call: Call): Promise<Streamed> {
    return this.#options.protocol === 'h2' ? this.#sendHttp2(call) : this.#sendHttp1(call)
  }

  get #tls() {
    const {ca, credentials} = this.#options
    return {
      rejectUnauthorized: ca !== undefined,
      ...(ca !== undefined && {ca}),
      ...(credentials && {cert: credentials.certificate, key: credentials.key}),
    }
  }

  async #sendHttp1(call: Call): Promise<Streamed> {
    const {hostname, port} = new URL(this.#options.server)
    const request = requestHttps({
      ...this.#tls,
      agent: this.#agent,
      host: hostname,
      port,
      path: call.path,
      method: call.method,
      headers: this.#headers(call),
    })
    request.end(call.body)
    const [response] = (await once(request, 'response')) as [
      Readable & {statusCode: number; headers: Record<string, string | undefined>},
    ]
    return {
      status: response.statusCode,
      type: response.headers['content-type'] ?? '',
      body: response,
      end: () => request.destroy(),
    }
  }

  async #sendHttp2(call: Call): Promise<Streamed> {
    const session = await (this.#session ??= this.#connectHttp2())
    const headers = {...this.#headers(call), ':method': call.method, ':path': call.path}
    const stream = session.request(headers, {endStream: call.body === undefined})
    if (call.body) stream.end(call.body)
    const [answered] = (await once(stream, 'response')) as [Record<string, unknown>]
    return {
      status: Number(answered[':status']),
      type: (answered['content-type'] ?? '') as string,
      body: stream,
      end: () => stream.close(),
    }
  }

  async #connectHttp2(): Promise<ClientHttp2Session> {
    const {hostname, port} = new URL(this.#options.server)
    const socket = connectTls({
      ...this.#tls,
      host: hostname,
      port: Number(port),
      // Go offers both.
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await once(socket, 'secureConnect')
    assert.equal(socket.alpnProtocol, 'h2')
    return connect(this.#options.server, {createConnection: () => socket})
  }
}
