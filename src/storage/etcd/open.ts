import {TrustError} from '../../errors.ts'
import {Endpoints, type Endpoint} from './endpoints.ts'
import {EtcdStorage} from './etcd.ts'
import {EtcdFailure, OtherCluster, storeError} from './failure.ts'
import {Gateway} from './gateway.ts'
import {EtcdKeys, type WireHeader} from './messages.ts'
import {parseEtcdPrefix, parseEtcdServer, type EtcdSettings} from './settings.ts'

/** The first of each line whose watches say truthfully up to which revision they have sent everything. */
const OLDEST = [
  [3, 4, 31],
  [3, 5, 13],
] as const
const RETRY = 1_000

interface OpenEtcdOptions {
  /** Called with a line when etcd does not respond, and when it does again. */
  tell?: (line: string) => void
  /** Ends the wait for an etcd that does not respond. */
  signal?: AbortSignal
  /** Waits until etcd responds, instead of throwing STORE_UNREACHABLE. Called with that error, and again if the reason changes. */
  wait?: (reason: unknown) => void
  /** How long a request tries all members before it fails, in milliseconds. */
  patience?: number
}

/** Opens the keys below a prefix in an etcd cluster. */
export async function openEtcdStorage(
  {servers, prefix, ...files}: EtcdSettings,
  {tell = () => undefined, signal, wait, patience}: OpenEtcdOptions = {},
): Promise<EtcdStorage> {
  if (servers.length === 0) throw new TrustError('CONFIG_INVALID', 'no etcd server is named')
  const settings = {
    ...files,
    servers: servers.map(parseEtcdServer),
    prefix: parseEtcdPrefix(prefix),
  }
  const gateway = new Gateway(new Endpoints(settings, tell), patience)
  try {
    await requireVersions(gateway, {tell, wait, signal})
  } catch (error) {
    await gateway.close()
    throw error
  }
  return new EtcdStorage(gateway, new EtcdKeys(settings.prefix), tell)
}

interface Waiting {
  tell: (line: string) => void
  wait: OpenEtcdOptions['wait']
  signal: AbortSignal | undefined
}

interface Status {
  header?: WireHeader
  version?: string
}

async function requireVersions(gateway: Gateway, {tell, wait, signal}: Waiting): Promise<void> {
  let told: string | undefined
  for (;;) {
    signal?.throwIfAborted()
    try {
      const deadline = gateway.deadline
      const [{unchecked, isAnyKnown}] = await Promise.all([
        checkMembers(gateway, deadline),
        // A status needs one member only; everything else needs most of them.
        gateway.call('kv/range', {key: 'AA==', count_only: true}, {deadline}),
      ])
      if (!isAnyKnown)
        throw new EtcdFailure('unknown', `no member tells its version: ${unchecked.join(', ')}`)
      if (told !== undefined) tell('etcd responds')
      for (const why of unchecked) tell(`${why}; the version of this member is not known`)
      return
    } catch (error) {
      if (!(error instanceof EtcdFailure)) throw error
      if (!wait) throw storeError(error)
      if (error.message !== told) wait(storeError(error))
      told = error.message
    }
    await gateway.pause(RETRY)
  }
}

interface Checked {
  unchecked: string[]
  isAnyKnown: boolean
}

/** Throws if a member cannot be used. Returns why those that could not be asked did not respond: etcd works without them. */
async function checkMembers(gateway: Gateway, deadline: number): Promise<Checked> {
  const {endpoints} = gateway
  const tooOld: string[] = []
  const unchecked: string[] = []
  let mixed: OtherCluster | undefined
  const check = async (endpoint: Endpoint) => {
    try {
      const options = {endpoint, deadline}
      const {version = ''} = await gateway.call<Status>('maintenance/status', {}, options)
      if (!isNewEnough(version)) tooOld.push(`${endpoint.server} runs etcd ${version}`)
    } catch (error) {
      if (!(error instanceof EtcdFailure)) throw error
      if (error instanceof OtherCluster) {
        mixed = error
        return
      }
      endpoints.avoid(endpoint)
      unchecked.push(error.message)
    }
  }
  await Promise.all(endpoints.all.map(check))
  if (mixed) throw differentClusters(gateway.describeClusters(), mixed)
  if (tooOld.length === 0)
    return {unchecked: unchecked.sort(), isAnyKnown: unchecked.length < endpoints.count}
  throw new TrustError('CONFIG_INVALID', `${tooOld.join(', ')}, which is too old`, {
    hints: ['use etcd 3.4.31, 3.5.13, 3.6 or newer: watches of older ones may miss changes'],
  })
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part))
  const oldest = OLDEST.find((one) => one[0] === major && one[1] === minor)
  const isNewer = major > 3 || (major === 3 && minor > 5)
  return isNewer || (oldest !== undefined && patch >= oldest[2])
}

/** Which of the clusters holds the objects is not known here, so no member is called wrong. */
const differentClusters = (message: string, cause: unknown): TrustError =>
  new TrustError('CONFIG_INVALID', message, {
    cause,
    hints: [
      '"etcdctl member list --endpoints <address>" shows which cluster a member is in; name members of one cluster only',
    ],
  })
