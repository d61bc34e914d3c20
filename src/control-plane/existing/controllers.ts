import {CLUSTER_INFO_NAME, CLUSTER_INFO_NAMESPACE, jwsKey} from '../../bootstrap/cluster-info.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {sleep, type Clock} from '../../runtime.ts'
import {listTokenSecrets} from '../tokens/list.ts'

/** A controller that nobody runs in a cluster. */
export interface MissingController {
  /** Our name for it. */
  controller: 'bootstrap-signer' | 'token-cleaner'
  reason: string
  /** Runs ours. */
  command: string
}

type Client = Pick<ApiClient, 'configMaps' | 'secrets' | 'leases'>

interface LookOptions {
  /** The id of a token for signing, if there is one: its signature is waited for. */
  tokenId: string | undefined
  /** The line of a command that works with the same cluster. */
  commandFor: (command: string) => string
  clock: Clock
  /** Milliseconds to wait for the signature. */
  patience?: number | undefined
}

/** A controller signs and cleans up within a second or two. */
const PATIENCE = 10_000
const LATE = 60_000
const PAUSE = 250

/** Looks at what controllers do: Kubernetes does not say which of them a controller manager runs. */
export async function findMissingControllers(
  client: Client,
  {tokenId, commandFor, clock, patience = PATIENCE}: LookOptions,
): Promise<MissingController[]> {
  const missing: {controller: MissingController['controller']; reason: string}[] = []
  if (tokenId !== undefined && !(await isSigned(client, tokenId, patience))) {
    const manager = await describeManager(client, clock)
    const reason = `cluster-info was not signed within ${patience / 1000} s; ${manager}`
    missing.push({controller: 'bootstrap-signer', reason})
  }
  const late = await lateTokens(client, clock)
  if (late > 0) {
    const reason = `${late === 1 ? 'a token' : `${late} tokens`} expired more than a minute ago, and nobody has deleted ${late === 1 ? 'it' : 'them'}`
    missing.push({controller: 'token-cleaner', reason})
  } else if (missing.length > 0) {
    // Controller managers have both or neither, as kubeadm starts them.
    missing.push({controller: 'token-cleaner', reason: 'it runs where bootstrap-signer does'})
  }
  const names = missing.map(({controller}) => controller).join(',')
  const command = commandFor(`controllers --controllers ${names}`)
  return missing.map((one) => ({...one, command}))
}

async function isSigned({configMaps}: Client, tokenId: string, patience: number): Promise<boolean> {
  const key = {namespace: CLUSTER_INFO_NAMESPACE, name: CLUSTER_INFO_NAME}
  for (let waited = 0; ; waited += PAUSE) {
    const found = await configMaps.find(key)
    if (found?.data?.[jwsKey(tokenId)] !== undefined) return true
    if (waited >= patience) return false
    await sleep(PAUSE)
  }
}

async function lateTokens(client: Client, clock: Clock): Promise<number> {
  const before = new Date(clock.now().getTime() - LATE)
  const found = (await listTokenSecrets(client)).map((one) => readTokenSecret(one, before).info)
  return found.filter((info) => info?.expires !== undefined && info.expires <= before).length
}

/** Whether a controller manager is there at all, by its Lease. */
async function describeManager({leases}: Client, clock: Clock): Promise<string> {
  const name = 'kube-controller-manager'
  const lease = await leases.find({namespace: 'kube-system', name}).catch((error: unknown) => {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  })
  const {renewTime, leaseDurationSeconds = 15} = lease?.spec ?? {}
  const age = renewTime === undefined ? NaN : clock.now().getTime() - Date.parse(renewTime)
  return age < leaseDurationSeconds * 1000
    ? `${name} runs, but bootstrapsigner is not among its --controllers`
    : `no ${name} holds its Lease in kube-system`
}
