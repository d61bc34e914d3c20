import type {ApiClient} from '../client/api-client.ts'
import {sleep, type Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {type Trust, trustDigest} from '../trust/trust.ts'
import {
  type NamedSigner,
  namedSignersOf,
  readEntries,
  readSignerReports,
  signersIn,
  writeEntry,
} from './named-signers.ts'

/** Where every server reports which trust state it uses. A rotation waits for all that are listed. */
const SERVER_REPORTS = {namespace: 'kube-system', name: 'trustadm-servers'}

interface ServerReport {
  /** See `trustDigest`. */
  trust: string
  /** When the server began to use it. */
  since: string
  /** What it signs with that is not of the control plane. */
  signers: NamedSigner[]
}

const RETRY = 2000
/** Reports what a server uses, from `begin` on and after each change. Returns a function that stops this and takes the report back. */
export function reportTrust(
  client: Pick<ApiClient, 'configMaps'>,
  server: string,
  trust: Live<Omit<Trust, 'loginSigners'>>,
  {clock, begin, onError}: {clock: Clock; begin: Promise<void>; onError: (error: unknown) => void},
): () => Promise<void> {
  const stop = new AbortController()
  let work = begin
  const report = async () => {
    while (!stop.signal.aborted) {
      try {
        const report: ServerReport = {
          trust: trustDigest(trust.current),
          since: clock.now().toISOString(),
          signers: namedSignersOf(trust.current),
        }
        return await writeEntry(client, SERVER_REPORTS, server, report)
      } catch (error) {
        onError(error)
        await sleep(RETRY, stop.signal).catch(() => undefined)
      }
    }
  }
  const follow = () => {
    work = work.then(report)
  }
  const leave = trust.subscribe(follow)
  follow()
  return async () => {
    leave()
    stop.abort(new Error('the server is stopping'))
    await work
    await writeEntry(client, SERVER_REPORTS, server, undefined).catch(onError)
  }
}

/** The servers whose last report is another one, by name; undefined if no server has reported. */
export async function serversBehind(
  client: Pick<ApiClient, 'configMaps'>,
  digest: string,
): Promise<string[] | undefined> {
  const servers = await readEntries(client, SERVER_REPORTS)
  if (servers.length === 0) return undefined
  return servers.filter(([, report]) => digestIn(report) !== digest).map(([name]) => name)
}

const digestIn = (report: unknown): string | undefined =>
  (report as Partial<ServerReport> | null | undefined)?.trust

/** What servers, and controllers elsewhere, sign with that is not of the control plane, by their machines. */
export async function readNamedSigners(
  client: Pick<ApiClient, 'configMaps'>,
): Promise<{host: string; signers: NamedSigner[]; isServer: boolean}[]> {
  const [servers, others] = await Promise.all([
    readEntries(client, SERVER_REPORTS),
    readSignerReports(client),
  ])
  return [
    ...servers.map(([host, entry]) => ({host, signers: signersIn(entry), isServer: true})),
    ...others.map((one) => ({...one, isServer: false})),
  ]
}
