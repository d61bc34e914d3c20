import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {sleep, type Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {trustDigest} from '../trust/trust-digest.ts'
import type {Trust} from '../trust/trust.ts'

/** Where every server reports which trust state it uses. A rotation waits for all that are listed. */
const SERVER_REPORTS = {namespace: 'kube-system', name: 'trustadm-servers'}

interface ServerReport {
  /** See `trustDigest`. */
  trust: string
  /** When the server began to use it. */
  since: string
}

const RETRY = 2000
const ATTEMPTS = 5

async function writeReport(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  server: string,
  report: ServerReport | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await configMaps.find(SERVER_REPORTS)
      const {[server]: _own, ...others} = found?.data ?? {}
      const data = report ? {...others, [server]: JSON.stringify(report)} : others
      const wanted: ConfigMap = {...(found ?? {metadata: SERVER_REPORTS}), data}
      if (found) await configMaps.update(wanted)
      else await configMaps.create(wanted)
      return
    } catch (error) {
      // Another server reports at the same time.
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}

/** Reports what a server uses, now and after each change. Returns a function that stops this and takes the report back. */
export function reportTrust(
  client: Pick<ApiClient, 'configMaps'>,
  server: string,
  trust: Live<Omit<Trust, 'loginSigners'>>,
  {clock, onError}: {clock: Clock; onError: (error: unknown) => void},
): () => Promise<void> {
  const stop = new AbortController()
  let work = Promise.resolve()
  const report = async () => {
    while (!stop.signal.aborted) {
      try {
        const since = clock.now().toISOString()
        return await writeReport(client, server, {trust: trustDigest(trust.current), since})
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
    await writeReport(client, server, undefined).catch(onError)
  }
}

/** The servers whose last report is another one, by name; undefined if no server has reported. */
export async function serversBehind(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  digest: string,
): Promise<string[] | undefined> {
  const {data = {}} = (await configMaps.find(SERVER_REPORTS)) ?? {}
  const servers = Object.entries(data)
  if (servers.length === 0) return undefined
  return servers.filter(([, text]) => digestIn(text) !== digest).map(([name]) => name)
}

function digestIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Partial<ServerReport>).trust
  } catch {
    return undefined
  }
}
