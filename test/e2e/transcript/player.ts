import {readFile} from 'node:fs/promises'
import {request, type RequestOptions} from 'node:https'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {normalise} from './normalise.ts'
import type {Answer, Request} from './step.ts'

const TIMEOUT = 15_000

interface Response {
  code: number
  type: string
  text: string
  warnings: string[]
}

interface Credentials {
  ca: Buffer
  cert: Buffer
  key: Buffer
}

/** Plays the steps of a chapter in order, and remembers what they keep. */
export class Player {
  readonly #server: URL
  readonly #credentials: Credentials
  readonly #kept: Record<string, string>

  private constructor(server: URL, credentials: Credentials, namespace: string) {
    this.#server = server
    this.#credentials = credentials
    this.#kept = {ns: namespace}
  }

  static async open(kubeconfig: string, namespace: string): Promise<Player> {
    const config = parseKubeconfig(await readFile(kubeconfig, 'utf8'))
    const cluster = config.clusters?.[0]?.cluster
    const user = config.users?.[0]?.user
    const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64')
    const credentials = {
      ca: bytes(cluster?.['certificate-authority-data']),
      cert: bytes(user?.['client-certificate-data']),
      key: bytes(user?.['client-key-data']),
    }
    return new Player(new URL(cluster?.server ?? ''), credentials, namespace)
  }

  async play(step: Request): Promise<Answer> {
    const response = await this.#send(step)
    const body = parsed(response)
    for (const [name, path] of Object.entries(step.keep ?? {})) {
      this.#kept[name] = String(at(body, path))
    }
    const plain = normalise(step.part ? at(body, step.part) : body, step.owners ?? false)
    return {
      code: response.code,
      body: this.#withoutNamespace(plain),
      ...(response.warnings.length > 0 ? {warnings: response.warnings} : {}),
    }
  }

  #fill(text: string): string {
    return text.replaceAll(/\$([a-z]+)\b/g, (whole, name: string) => this.#kept[name] ?? whole)
  }

  #filled(headers: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.#fill(value)]),
    )
  }

  #withoutNamespace(value: unknown): unknown {
    const text = JSON.stringify(value ?? null).replaceAll(this.#kept.ns ?? '', () => '$ns')
    return JSON.parse(text) as unknown
  }

  #send(step: Request): Promise<Response> {
    const [method = '', path = ''] = this.#fill(step.ask).split(' ')
    const {ca, cert, key} = this.#credentials
    const body = step.body === undefined ? undefined : this.#fill(asText(step.body))
    const options: RequestOptions = {
      method,
      ca,
      ...(step.anonymous ? {} : {cert, key}),
      // Every request on a connection of its own, so that an anonymous one is never sent over another's.
      agent: false,
      timeout: TIMEOUT,
      headers: {
        accept: step.accept ?? 'application/json',
        'user-agent': 'transcript/1',
        ...(body === undefined ? {} : bodyHeaders(body, step.type)),
        ...this.#filled(step.headers ?? {}),
      },
    }
    return new Promise((resolve, reject) => {
      const call = request(new URL(path, this.#server), options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('error', reject).on('end', () => {
          resolve({
            code: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            text,
            warnings: warningsOf(response.rawHeaders),
          })
        })
      })
      call.on('timeout', () => call.destroy(new Error(`no answer to ${step.ask}`)))
      call.on('error', reject).end(body)
    })
  }
}

/** A length too, as Node sends a body without one with a DELETE, which no server can read. */
const bodyHeaders = (body: string, type = 'application/json') => ({
  'content-type': type,
  'content-length': Buffer.byteLength(body),
})

const asText = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** One object, or one a line, or just text. */
function parsed({type, text}: Response): unknown {
  if (!type.startsWith('application/json')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    const lines = text.split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as unknown)
  }
}

const warningsOf = (headers: string[]): string[] =>
  headers.filter((_, index) => headers[index - 1]?.toLowerCase() === 'warning')

/** The value at `a.b.0.c`. */
const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((item, key) => (item as Record<string, unknown> | undefined)?.[key], value)
