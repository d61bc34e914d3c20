import type {ApiObject} from '../../api/meta.ts'

interface VolumeSources {
  secret?: unknown
  projected?: {sources?: {secret?: unknown; serviceAccountToken?: unknown}[]}
}

interface EnvironmentUser {
  env?: {valueFrom?: {secretKeyRef?: unknown}}[]
  envFrom?: {secretRef?: unknown}[]
}

interface MirrorSpec {
  serviceAccountName?: string
  imagePullSecrets?: unknown[]
  volumes?: VolumeSources[]
  containers?: EnvironmentUser[]
  initContainers?: EnvironmentUser[]
}

/** A mirror pod shows what a kubelet runs anyway: it must not be a way to reach secrets or tokens. */
export function mirrorPodProblem(pod: ApiObject): string | undefined {
  const spec = (pod.spec ?? {}) as MirrorSpec
  const {serviceAccountName = '', imagePullSecrets = [], volumes = []} = spec
  if (serviceAccountName !== '') return 'a mirror pod may not reference service accounts'
  const sources = volumes.flatMap(({projected}) => projected?.sources ?? [])
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const usesSecrets =
    imagePullSecrets.length > 0 ||
    [...volumes, ...sources].some(({secret}) => secret !== undefined) ||
    containers.some(
      ({env = [], envFrom = []}) =>
        env.some(({valueFrom}) => valueFrom?.secretKeyRef !== undefined) ||
        envFrom.some(({secretRef}) => secretRef !== undefined),
    )
  if (usesSecrets) return 'a mirror pod may not reference secrets'
  return sources.some(({serviceAccountToken}) => serviceAccountToken !== undefined)
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined
}
