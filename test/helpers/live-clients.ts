import {connect as connectHttp2} from 'node:http2'
import {Agent, request, type RequestOptions} from 'node:https'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {sleep} from '../../src/runtime.ts'

/** What kinds of clients there are, and how many of each. */
export interface ClientCounts {
  http1Watches: number
  http2Watches: number
  keepAlive: number
  newConnections: number
}

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1200'
const GET = '/api/v1/namespaces/default/configmaps?limit=1'
/** Milliseconds between two requests of one client: hundreds of them share a processor with the server. */
const [KEEP_ALIVE_PAUSE, NEW_CONNECTION_PAUSE] = [500, 1000]

const optionsOf = (access: ServerAccess): RequestOptions & {host: string; port: string} => {
  const {hostname: host, port} = new URL(access.server)
  const {certificate: cert, key} = access.clientCertificate ?? {}
  return {host, port, ca: access.ca, cert, key}
}

/** Hundreds of clients that work all the time until they are stopped. Whatever fails meanwhile is a failure. */
export class LiveClients {
  readonly failures: string[] = []
  /** Of requests. */
  answered = 0
  /** The names that each watch has seen. */
  readonly watches: Set<string>[] = []
  #isOver = false
  readonly #closing: (() => void)[] = []
  readonly #loops: Promise<void>[] = []

  /** `access` is asked for each new connection. */
  static async start(
    counts: ClientCounts,
    access: () => Promise<ServerAccess>,
  ): Promise<LiveClients> {
    const clients = new LiveClients()
    const first = await access()
    const opening: Promise<void>[] = []
    for (let one = 0; one < counts.http1Watches; one++) opening.push(clients.#watchHttp1(first))
    for (let one = 0; one < counts.http2Watches; one++) opening.push(clients.#watchHttp2(first))
    await Promise.all(opening)
    for (let one = 0; one < counts.keepAlive; one++) {
      const agent = new Agent({keepAlive: true, maxSockets: 1})
      clients.#closing.push(() => agent.destroy())
      const options = {...optionsOf(first), agent}
      clients.repeat('keep-alive', KEEP_ALIVE_PAUSE, () => clients.#get(options))
    }
    for (let one = 0; one < counts.newConnections; one++) {
      clients.repeat('new connection', NEW_CONNECTION_PAUSE, async () =>
        clients.#get({...optionsOf(await access()), agent: false}),
      )
    }
    return clients
  }

  /** Does something again and again; a rejection is a failure. */
  repeat(what: string, pause: number, work: () => Promise<void>): void {
    const loop = async () => {
      // Not all at the same moment.
      await sleep(Math.random() * pause)
      while (!this.#isOver) {
        try {
          await work()
          this.answered += 1
        } catch (error) {
          this.#fail(`${what}: ${String(error)}`)
        }
        await sleep(pause)
      }
    }
    this.#loops.push(loop())
  }

  async stop(): Promise<void> {
    this.#isOver = true
    for (const close of this.#closing) close()
    await Promise.all(this.#loops)
  }

  #fail(what: string): void {
    if (!this.#isOver) this.failures.push(what)
  }

  #get(options: RequestOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      request({...options, path: GET}, (response) => {
        response.resume()
        response.once('error', reject)
        response.once('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`status ${response.statusCode}`))
        })
      })
        .once('error', reject)
        .end()
    })
  }

  /** Notes the names of objects in the events of a watch. */
  #reader(): (chunk: Buffer) => void {
    const seen = new Set<string>()
    this.watches.push(seen)
    let rest = ''
    return (chunk) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const {type, object} = JSON.parse(line) as {
          type: string
          object: {metadata?: {name?: string}}
        }
        if (type === 'ERROR') this.#fail(`a watch got ${line}`)
        else seen.add(object.metadata?.name ?? '')
      }
    }
  }

  #watchHttp1(access: ServerAccess): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = request({...optionsOf(access), agent: false, path: WATCH}, (response) => {
        if (response.statusCode !== 200) reject(new Error(`watch: ${response.statusCode}`))
        response.on('data', this.#reader())
        response.on('error', (error) => this.#fail(`HTTP/1.1 watch: ${error.message}`))
        response.once('close', () => this.#fail('an HTTP/1.1 watch was cut'))
        resolve()
      })
      asked.once('error', reject)
      asked.end()
      this.#closing.push(() => asked.destroy())
    })
  }

  #watchHttp2(access: ServerAccess): Promise<void> {
    return new Promise((resolve, reject) => {
      const {host, port, ca, cert, key} = optionsOf(access)
      const session = connectHttp2(`https://${host}:${port}`, {ca, cert, key})
      session.on('error', (error: Error) => {
        reject(error)
        this.#fail(`HTTP/2: ${error.message}`)
      })
      session.on('goaway', (code) => this.#fail(`HTTP/2: the server said goaway ${code}`))
      const stream = session.request({':path': WATCH})
      stream.on('error', (error) => this.#fail(`HTTP/2 watch: ${error.message}`))
      stream.once('response', ({':status': status}) => {
        if (status === 200) resolve()
        else reject(new Error(`watch: ${status}`))
      })
      stream.on('data', this.#reader())
      stream.once('close', () => this.#fail('an HTTP/2 watch was cut'))
      this.#closing.push(() => session.destroy())
    })
  }
}
