import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {clientRequest} from '../../src/node/client-certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {sleep} from '../../src/runtime.ts'
import {checkCertificates, type Issued, type Verdict} from './check-certificates.ts'
import {Publications} from './publications.ts'
import type {Server} from './server.ts'

const POLL = 100
const PAUSE = 300
/** Longer than controllers may take to go on elsewhere. */
const PATIENCE = 40_000

/** Two machines ask for the certificate of one node's name, at two servers at the same time: one gets it. */
export class Races {
  /** When the newest race was decided that had begun after a moment: [began, decided]. */
  readonly decided: (readonly [began: number, decided: number])[] = []
  readonly #servers: readonly Server[]
  readonly #publications: Publications
  readonly #run = Math.random().toString(36).slice(2, 8)

  constructor(servers: readonly Server[]) {
    this.#servers = servers
    this.#publications = new Publications(servers)
  }

  #alive(): Server[] {
    return this.#servers.filter(({isUp}) => isUp)
  }

  async hold(signal: AbortSignal): Promise<void> {
    const following = this.#publications.follow(signal)
    for (let count = 0; !signal.aborted; count++) {
      try {
        await this.#race(`${this.#run}-${count}`, signal)
      } catch {
        // The server that was asked is gone: the next race is held at others.
      }
      await sleep(PAUSE, signal).catch(() => undefined)
    }
    await following
  }

  async #race(node: string, signal: AbortSignal): Promise<void> {
    const alive = this.#alive()
    const first = Math.floor(Math.random() * alive.length)
    const pair = [alive[first], alive[(first + 1) % alive.length]]
    const began = performance.now()
    const names = await Promise.all(
      pair.map(async (server) => {
        const request = await clientRequest(node, await generateKeys())
        await server?.machine.csrs.create(request, {signal})
        return request.metadata.name
      }),
    )
    while (!signal.aborted && performance.now() - began < PATIENCE) {
      const [server] = this.#alive()
      const found = server && (await certified(server.admin, names).catch(() => undefined))
      if (found?.length) {
        this.decided.push([began, performance.now()])
        return
      }
      await sleep(POLL, signal)
    }
  }

  /** In milliseconds after a moment, when a race that began later was decided. */
  decidedAfter(moment: number): number | undefined {
    const one = this.decided.find(([began]) => began >= moment)
    return one && one[1] - moment
  }

  /** In the end: what the cluster, and the logs of all signers, say about who got a certificate. */
  async check(admin: ApiClient): Promise<Verdict> {
    await this.#publications.read(admin)
    const logs = await Promise.all(this.#servers.map(({dir}) => issuancesIn(dir)))
    return checkCertificates(logs.flat(), this.#publications.published)
  }
}

async function certified({csrs}: ApiClient, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => csrs.find(name)))
  return found.flatMap((csr) => (csr?.status?.certificate ? [csr.metadata.name ?? ''] : []))
}

async function issuancesIn(dir: string): Promise<Issued[]> {
  const content = await readFile(join(dir, 'logs', 'issuance.log'), 'utf8').catch(() => '')
  const lines = content.split('\n').filter((line) => line !== '')
  return lines
    .map((line) => JSON.parse(line) as Issued & {decision: string})
    .filter(({decision}) => decision === 'issued')
}
