import {Pool} from 'undici'
import {ATTACKERS, type Hit, type Holdings, type Identity, type Shot} from '../attack.ts'

const CONNECTIONS = 8
const PATIENCE = 30_000
/** More of an answer than this is read, and not kept. */
const KEPT = 1024 * 1024

/** Keep-alive connections for each identity. */
export class Caller {
  readonly #holdings: Holdings
  readonly #pools = new Map<string, Pool>()

  constructor(holdings: Holdings) {
    this.#holdings = holdings
  }

  async send(identity: Identity, shot: Shot, signal: AbortSignal): Promise<Hit> {
    const {method = 'GET', path, body, type = 'application/json', headers = {}} = shot
    const answer = await this.#poolOf(identity).request({
      method: method,
      path,
      headers: {
        ...(body === undefined ? {} : {'content-type': type}),
        ...(identity.token === undefined ? {} : {authorization: `Bearer ${identity.token}`}),
        ...headers,
      },
      body: body ?? null,
      signal,
    })
    return {status: answer.statusCode, text: await textOf(answer.body)}
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  #poolOf({name, certificate: cert, key, address = ATTACKERS}: Identity): Pool {
    const known = this.#pools.get(name)
    if (known !== undefined) return known
    const {port, ca} = this.#holdings
    const pool = new Pool(`https://127.0.0.1:${port}`, {
      connections: CONNECTIONS,
      headersTimeout: PATIENCE,
      bodyTimeout: PATIENCE,
      localAddress: address,
      connect: {ca, ...(cert === undefined ? {} : {cert}), ...(key === undefined ? {} : {key})},
    })
    this.#pools.set(name, pool)
    return pool
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size <= KEPT) parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
