import {
  canonicalizeResources,
  canonicalQuantity,
  compareQuantities,
} from '../validation/quantity.ts'
import {defaultContainer, defaultReferences, pullPolicyFor} from './container-defaults.ts'
import type {Pod, PodSpec, Toleration, Volume} from '../../api/pod.ts'

const TOLERATION_SECONDS = 300

/** What decoding a pod fills in, as Kubernetes' SetDefaults_Pod and SetDefaults_PodSpec. */
export function defaultPod(pod: Pod): void {
  const spec = (pod.spec ??= {})
  const containers = [spec.initContainers, spec.containers, spec.ephemeralContainers]
  for (const container of containers.flatMap((some) => some ?? [])) {
    defaultContainer(container, spec.hostNetwork === true)
  }
  spec.volumes?.forEach(defaultVolume)
  canonicalizeResources(spec.overhead)
  spec.restartPolicy ??= 'Always'
  spec.dnsPolicy ??= 'ClusterFirst'
  spec.terminationGracePeriodSeconds ??= 30
  spec.securityContext ??= {}
  spec.schedulerName ??= 'default-scheduler'
  spec.enableServiceLinks ??= true
  mirrorServiceAccount(spec)
}

/** The older field has the same value as the newer one. */
export function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount
  if (name === undefined) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}

function tolerates({key = '', effect = ''}: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}

/** A pod leaves a broken node after five minutes, as with the admission plugin DefaultTolerationSeconds. */
export function addTolerations(spec: PodSpec): void {
  for (const taint of ['not-ready', 'unreachable']) {
    const key = `node.kubernetes.io/${taint}`
    if (spec.tolerations?.some((toleration) => tolerates(toleration, key))) continue
    spec.tolerations = [
      ...(spec.tolerations ?? []),
      {key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS},
    ]
  }
}

/** 0644 */
const FILE_MODE = 0o644
const TOKEN_SECONDS = 3600

/** Defaults of one volume of a pod; without a source it is an empty folder. */
function defaultVolume(volume: Volume): void {
  const {name: _, ...sources} = volume
  if (Object.values(sources).every((source) => source === undefined)) volume.emptyDir = {}
  if (volume.emptyDir?.sizeLimit !== undefined) {
    volume.emptyDir.sizeLimit = canonicalQuantity(volume.emptyDir.sizeLimit)
  }
  for (const files of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) {
    if (files) files.defaultMode ??= FILE_MODE
  }
  volume.downwardAPI?.items?.forEach(defaultReferences)
  for (const source of volume.projected?.sources ?? []) {
    if (source.serviceAccountToken) {
      source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS
    }
    source.downwardAPI?.items?.forEach(defaultReferences)
  }
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.iscsi) volume.iscsi.iscsiInterface ??= 'default'
  if (volume.image) volume.image.pullPolicy ??= pullPolicyFor(volume.image.reference ?? '')
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec
  if (claim) claim.volumeMode ??= 'Filesystem'
}

const COUNTED = ['cpu', 'memory']

/** How a pod is treated when a node runs short, as Kubernetes' ComputePodQOS. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
    ({resources = {}}) => resources,
  )
  const amounts = all.flatMap(({limits = {}, requests = {}}) =>
    COUNTED.flatMap((name) => [limits[name] ?? 0, requests[name] ?? 0]),
  )
  if (amounts.every((amount) => compareQuantities(amount, 0) === 0)) return 'BestEffort'

  const guaranteed = all.every(({limits = {}, requests = {}}) =>
    COUNTED.every((name) => {
      const [limit = 0, request = 0] = [limits[name], requests[name]]
      return compareQuantities(limit, 0) > 0 && compareQuantities(limit, request) === 0
    }),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
