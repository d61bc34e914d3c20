import type {
  Transport,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from '../../../src/client/transport.ts'

type Answer = Partial<Omit<TransportResponse, 'body'>> & {json?: unknown; text?: string}

/** Answers from a function, and remembers what it was asked. */
export class FakeTransport implements Transport {
  readonly requests: TransportRequest[] = []
  closedStreams = 0
  readonly #answer: (request: TransportRequest, attempt: number) => Answer | Error

  constructor(answer: (request: TransportRequest, attempt: number) => Answer | Error) {
    this.#answer = answer
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request)
    const answer = this.#answer(request, this.requests.length)
    if (answer instanceof Error) return Promise.reject(answer)
    const {status = 200, headers = {}, json, text = JSON.stringify(json)} = answer
    return Promise.resolve({status, headers, body: Buffer.from(text)})
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const {body, ...head} = await this.request(request)
    const chunks = (async function* () {
      yield await Promise.resolve(body)
    })()
    return {...head, body: chunks, close: () => (this.closedStreams += 1)}
  }

  serverCertificate(): undefined {
    return undefined
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** `METHOD path?query` of all that was asked. */
  get lines(): string[] {
    return this.requests.map(({method, path, query}) => {
      const text = query?.toString() ?? ''
      return `${method} ${path}${text && `?${text}`}`
    })
  }

  /** The body of the last request, parsed. */
  get lastBody(): unknown {
    const body = this.requests.at(-1)?.body
    return body && (JSON.parse(Buffer.from(body).toString()) as unknown)
  }
}
