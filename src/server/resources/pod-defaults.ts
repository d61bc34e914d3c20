import {compareQuantities} from '../validation/quantity.ts'
import type {
  Pod,
  PodSpec,
  Toleration,
  Volume,
  Container,
  DownwardItem,
  HttpGet,
  Probe,
} from '../../api/pod.ts'

const TOLERATION_SECONDS = 300

/** What decoding a pod fills in, as Kubernetes' SetDefaults_Pod and SetDefaults_PodSpec. */
export function defaultPod(pod: Pod): void {
  const spec = (pod.spec ??= {})
  const containers = [spec.initContainers, spec.containers, spec.ephemeralContainers]
  for (const container of containers.flatMap((some) => some ?? [])) {
    defaultContainer(container, spec.hostNetwork === true)
  }
  spec.volumes?.forEach(defaultVolume)
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

/** Of pods and PersistentVolumes. kubectl's `describe` panics where azureDisk has none. */
const SOURCE_DEFAULTS: Record<string, Record<string, unknown>> = {
  azureDisk: {cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared'},
  hostPath: {type: ''},
  iscsi: {iscsiInterface: 'default'},
  rbd: {pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring'},
  scaleIO: {storageMode: 'ThinProvisioned', fsType: 'xfs'},
}

export function defaultSource(volume: object): void {
  const sources = volume as Record<string, Record<string, unknown> | undefined>
  for (const [name, defaults] of Object.entries(SOURCE_DEFAULTS)) {
    const source = sources[name]
    if (!source) continue
    for (const [field, value] of Object.entries(defaults)) source[field] ??= value
  }
}

/** Defaults of one volume of a pod; without a source it is an empty folder. */
function defaultVolume(volume: Volume): void {
  const {name: _, ...sources} = volume
  if (Object.values(sources).every((source) => source === undefined)) volume.emptyDir = {}
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
  defaultSource(volume)
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

/** A tag of `latest`, given or left out, may mean something else tomorrow. */
export function pullPolicyFor(image: string): string {
  const [name = '', digest] = image.split('@')
  const tag = /:([^:/]+)$/.exec(name)?.[1]
  const isLatest = tag === 'latest' || (tag === undefined && digest === undefined)
  return isLatest ? 'Always' : 'IfNotPresent'
}

function defaultHttpGet(get: HttpGet | undefined): void {
  if (get === undefined) return
  get.path ??= '/'
  get.scheme ??= 'HTTP'
}

function defaultProbe(probe: Probe | undefined): void {
  if (probe === undefined) return
  probe.timeoutSeconds ??= 1
  probe.periodSeconds ??= 10
  probe.successThreshold ??= 1
  probe.failureThreshold ??= 3
  defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

/** References to the pod's own fields. */
function defaultReferences({fieldRef}: DownwardItem): void {
  if (fieldRef) fieldRef.apiVersion ??= 'v1'
}

/** A limit without a request is also the request. */
function defaultResources(container: Container): void {
  const resources = (container.resources ??= {})
  if (resources.limits) resources.requests = {...resources.limits, ...resources.requests}
}

/** Defaults of one container, as Kubernetes' SetDefaults_Container and its like. */
function defaultContainer(container: Container, hostNetwork: boolean): void {
  container.imagePullPolicy ??= pullPolicyFor(container.image ?? '')
  container.terminationMessagePath ??= '/dev/termination-log'
  container.terminationMessagePolicy ??= 'File'
  defaultResources(container)
  for (const port of container.ports ?? []) {
    port.protocol ??= 'TCP'
    if (hostNetwork && !port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
  for (const {valueFrom} of container.env ?? []) if (valueFrom) defaultReferences(valueFrom)
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    defaultProbe(probe)
  }
  defaultHttpGet(container.lifecycle?.postStart?.httpGet)
  defaultHttpGet(container.lifecycle?.preStop?.httpGet)
}
