import type {ConfigMap, ObjectReference, Secret} from '../api/core.ts'
import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  isJwsKey,
  KUBECONFIG_KEY,
  type NodeIssuers,
} from '../bootstrap/cluster-info.ts'
import {otherAuthorities, withAuthorities} from '../bootstrap/parse-cluster-info.ts'
import {TOKEN_SECRET_NAMESPACE, TOKEN_SECRET_TYPE} from '../bootstrap/token-secret.ts'
import type {ApiClient} from '../client/api-client.ts'
import {printable} from '../client/printable.ts'
import type {CallOptions} from '../client/resource-client.ts'
import {hasCode} from '../errors.ts'
import type {Certificate} from '../pki/certificate.ts'
import {formatName} from '../pki/distinguished-name.ts'
import {pinOf} from '../pki/pins.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {follow, followLive, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {CostlyWork} from './kernel/costly-work.ts'
import {EventReporter} from './kernel/events.ts'
import {TokenSignatures, type SignContent} from './token-signatures.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const CLUSTER_INFO = `${CLUSTER_INFO_NAMESPACE}/${CLUSTER_INFO_NAME}`
const AFTER_CONFLICT = 50
/** Timers stop while a machine sleeps and do not notice when its clock is set, so the next check is never far away. */
const LONGEST_WAIT = 60_000

export interface BootstrapSignerOptions {
  /** The CAs by which machines verify the API server; absent: those in cluster-info. */
  rootCa?: Live<string> | undefined
  /** Which CAs sign for nodes now; absent: cluster-info does not say it. */
  issuers?: Live<NodeIssuers | undefined> | undefined
  sign?: SignContent | undefined
}

export interface BootstrapSignerDeps extends BootstrapSignerOptions {
  clusterInfo: Pick<Copy<ConfigMap>, 'find'>
  tokens: Pick<Copy<Secret>, 'list'>
  writer: Pick<ApiClient, 'configMaps' | 'events'>
  clock: Clock
}

/** What is said about a CA that only cluster-info has: machines would trust it, and the next rotation would not know it. */
export const onlyInClusterInfo = (authority: Certificate): string =>
  `the CA ${printable(formatName(authority.subject))} (${pinOf(authority)}) is not in ca.crt of the control plane, and is removed from cluster-info: to keep it, append it to ca.crt`

const MOST_REPORTED = 10

/**
 * Kubernetes' bootstrap signer: cluster-info carries a signature by every token that may sign, and none by any other. Of the
 * kubeconfig in it, the controller writes only the CAs. It updates them and the signatures in one write, so no machine reads
 * a cluster-info with signatures of another content. Without a kubeconfig nothing is signed.
 */
export function signClusterInfo(deps: BootstrapSignerDeps): Reconcile {
  const {clusterInfo, tokens, writer, clock, rootCa} = deps
  // Also those that a rotation has ended since: removing them is what it does.
  const ours = new Set<string>()
  const signatures = new TokenSignatures(deps.sign)
  const current = withCurrentAuthorities(deps)
  const work = new CostlyWork()
  return async (key, signal) => {
    await work.rest(signal)
    const found = await clusterInfo.find(key)
    const published = found?.data?.[KUBECONFIG_KEY]
    if (rootCa) ours.add(rootCa.current)
    if (found === undefined || published === undefined) return DONE

    const content = current(published)
    const now = clock.now()
    const {byKey, nextExpiry} = await signatures.over(content, await tokens.list(), {now, signal})
    if (content !== published || !isSigned(found, byKey)) {
      const wanted = withSignatures(found, byKey, content)
      try {
        await work.run(writer.configMaps.update(wanted, {signal}))
      } catch (error) {
        if (hasCode(error, 'CONFLICT')) return {requeueAfter: AFTER_CONFLICT}
        // If it is created again, its event adds the key again.
        if (!hasCode(error, 'NOT_FOUND')) throw error
        return DONE
      }
      if (content !== published && rootCa) {
        const removed = otherAuthorities(published, [...ours].join('\n'))
        await reportRemoved(found, removed.slice(0, MOST_REPORTED), {writer, clock, signal})
      }
    }
    if (nextExpiry === undefined) return DONE
    return {requeueAfter: Math.min(nextExpiry.getTime() - now.getTime(), LONGEST_WAIT)}
  }
}

async function reportRemoved(
  {metadata: {name, namespace, uid}}: ConfigMap,
  removed: readonly Certificate[],
  {writer, clock, signal}: Pick<BootstrapSignerDeps, 'writer' | 'clock'> & CallOptions,
): Promise<void> {
  const about = {apiVersion: 'v1', kind: 'ConfigMap', name, namespace, uid} as ObjectReference
  for (const authority of removed) {
    // A reporter of its own, because it may happen again after the first Event has expired.
    await new EventReporter(writer, 'bootstrap-signer', clock).report(
      about,
      {type: 'Warning', reason: 'AuthorityRemoved', message: onlyInClusterInfo(authority)},
      {signal},
    )
  }
}

/** Tokens change far more often than CAs, so the text is parsed once. */
function withCurrentAuthorities({
  rootCa,
  issuers: signing,
}: BootstrapSignerOptions): (published: string) => string {
  let last = {published: '', ca: '', keys: '', content: ''}
  return (published) => {
    const ca = rootCa?.current
    if (ca === undefined) return published
    const issuers = signing?.current
    const keys = JSON.stringify(issuers ?? {})
    if (last.published !== published || last.ca !== ca || last.keys !== keys) {
      last = {published, ca, keys, content: withAuthorities(published, ca, issuers)}
    }
    return last.content
  }
}

function isSigned({data = {}}: ConfigMap, signatures: Map<string, string>): boolean {
  const present = Object.entries(data).filter(([key]) => isJwsKey(key))
  return (
    present.length === signatures.size && present.every(([key, jws]) => signatures.get(key) === jws)
  )
}

function withSignatures(
  configMap: ConfigMap,
  signatures: Map<string, string>,
  content: string,
): ConfigMap {
  const others = Object.entries(configMap.data ?? {}).filter(([key]) => !isJwsKey(key))
  return {
    ...configMap,
    data: {...Object.fromEntries([...others, ...signatures]), [KUBECONFIG_KEY]: content},
  }
}

export function bootstrapSignerController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
  options: BootstrapSignerOptions = {},
): ControllerSpec {
  const {rootCa} = options
  const clusterInfo = follow(reader.configMaps, () => [CLUSTER_INFO], {
    namespace: CLUSTER_INFO_NAMESPACE,
    fieldSelector: `metadata.name=${CLUSTER_INFO_NAME}`,
  })
  const tokens = follow(reader.secrets, () => [CLUSTER_INFO], {
    namespace: TOKEN_SECRET_NAMESPACE,
    fieldSelector: `type=${TOKEN_SECRET_TYPE}`,
  })
  return {
    name: 'bootstrap-signer',
    sources: [
      clusterInfo,
      tokens,
      ...(rootCa ? [followLive(rootCa, () => Promise.resolve([CLUSTER_INFO]))] : []),
    ],
    reconcile: signClusterInfo({clusterInfo, tokens, writer, clock, ...options}),
  }
}
