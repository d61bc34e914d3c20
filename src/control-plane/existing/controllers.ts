import {CLUSTER_INFO_NAME, CLUSTER_INFO_NAMESPACE, jwsKey} from '../../bootstrap/cluster-info.ts'
import {readTokenSecret, type TokenProblem} from '../../bootstrap/read-token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {sleep, type Clock} from '../../runtime.ts'
import {listTokenSecrets} from '../tokens/list.ts'
import {isManagerRunning, MANAGER} from '../requests/kube-controller-manager.ts'

const CONTROLLERS = ['bootstrap-signer', 'token-cleaner'] as const
type ControllerName = (typeof CONTROLLERS)[number]

/** A controller that nobody runs in a cluster. */
export interface MissingController {
  /** Our name for it. */
  controller: ControllerName
  reason: string
  /** Runs ours. */
  command: string
}

/** A controller that somebody may run, or nobody: there is nothing to see it by. */
export interface UncheckedController {
  controller: ControllerName
  reason: string
}

/** What is known about the controllers that joining needs; those of neither list work. */
export interface FoundControllers {
  missing: MissingController[]
  /** `isUsual`: a cluster where it works may look like this. */
  unchecked: (UncheckedController & {isUsual: boolean})[]
}

type Client = Pick<ApiClient, 'configMaps' | 'secrets' | 'leases'>

interface LookOptions {
  /** The id of a token that was just created: its signature is waited for. Undefined: that of any token. */
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
export async function findControllers(
  client: Client,
  {tokenId, commandFor, clock, patience = PATIENCE}: LookOptions,
): Promise<FoundControllers> {
  const tokens = await tokensOf(client, clock)
  const states: Record<ControllerName, State> = {
    'bootstrap-signer': await signerState(client, tokenId ?? tokens?.signing, {clock, patience}),
    'token-cleaner': cleanerState(tokens?.late),
  }
  if (states['bootstrap-signer'].isMissing === true && states['token-cleaner'].isMissing !== true) {
    // Controller managers have both or neither, as kubeadm starts them.
    states['token-cleaner'] = {isMissing: true, reason: 'it runs where bootstrap-signer does'}
  }
  const all: ({controller: ControllerName} & State)[] = CONTROLLERS.map((controller) => ({
    controller,
    ...states[controller],
  }))
  const missing = all.filter(({isMissing}) => isMissing === true)
  const names = missing.map(({controller}) => controller).join(',')
  const command = commandFor(`controllers --controllers ${names}`)
  return {
    missing: missing.map(({controller, reason}) => ({controller, reason, command})),
    unchecked: all
      .filter(({isMissing}) => isMissing === undefined)
      .map(({controller, reason, isUsual = false}) => ({controller, reason, isUsual})),
  }
}

interface State {
  /** Undefined if nothing shows it. */
  isMissing: boolean | undefined
  reason: string
  isUsual?: boolean
}

const NO_RIGHTS = 'the user of the kubeconfig may not list the Secrets in kube-system'

async function signerState(
  client: Client,
  tokenId: string | null | undefined,
  {clock, patience}: {clock: Clock; patience: number},
): Promise<State> {
  if (tokenId === undefined) return {isMissing: undefined, reason: NO_RIGHTS}
  if (tokenId === null)
    return {isMissing: undefined, reason: 'there is no token to sign cluster-info with'}
  const isDone = await isSigned(client, tokenId, patience)
  if (isDone === undefined)
    return {isMissing: undefined, reason: 'there is no ConfigMap kube-public/cluster-info to sign'}
  if (isDone) return {isMissing: false, reason: ''}
  const manager = await describeManager(client, clock)
  const reason = `cluster-info was not signed within ${patience / 1000} s; ${manager}`
  return {isMissing: true, reason}
}

function cleanerState(late: number | undefined): State {
  if (late === undefined) return {isMissing: undefined, reason: NO_RIGHTS}
  if (late === 0)
    return {
      isMissing: undefined,
      reason: 'no expired token is left, so it works or none has expired yet',
      isUsual: true,
    }
  const what = late === 1 ? 'a token' : `${late} tokens`
  const reason = `${what} expired more than a minute ago, and nobody has deleted ${late === 1 ? 'it' : 'them'}`
  return {isMissing: true, reason}
}

/** Undefined if there is nothing to sign. */
async function isSigned(
  {configMaps}: Client,
  tokenId: string,
  patience: number,
): Promise<boolean | undefined> {
  const key = {namespace: CLUSTER_INFO_NAMESPACE, name: CLUSTER_INFO_NAME}
  for (let waited = 0; ; waited += PAUSE) {
    const found = await configMaps.find(key)
    if (!found) return undefined
    if (found.data?.[jwsKey(tokenId)] !== undefined) return true
    if (waited >= patience) return false
    await sleep(PAUSE)
  }
}

interface Tokens {
  /** The id of one that signs cluster-info; null if there is none. */
  signing: string | null
  /** How many should have been deleted. */
  late: number
}

/** Undefined if the user may not list them. */
async function tokensOf(client: Client, clock: Clock): Promise<Tokens | undefined> {
  const now = clock.now()
  const before = new Date(now.getTime() - LATE)
  try {
    const secrets = await listTokenSecrets(client)
    const signing = secrets
      .map((one) => readTokenSecret(one, now))
      .find(({info, problems}) => info?.usages.signing === true && !problems.some(blocksSigning))
    const expired = secrets
      .map((one) => readTokenSecret(one, before).info?.expires)
      .filter((expires) => expires !== undefined && expires <= before)
    return {signing: signing?.info?.token.id ?? null, late: expired.length}
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  }
}

const blocksSigning = ({blocks}: TokenProblem): boolean => blocks.includes('signing')

const describeManager = async (client: Client, clock: Clock): Promise<string> =>
  (await isManagerRunning(client, clock))
    ? `${MANAGER} runs, but bootstrapsigner is not among its --controllers`
    : `no ${MANAGER} holds its Lease in kube-system`
