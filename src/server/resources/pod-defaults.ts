import {canonicalizeResources} from '../validation/quantity.ts'
import {defaultContainer} from './container-defaults.ts'
import type {Pod, PodSpec, Toleration} from './pod-types.ts'
import {defaultVolume} from './volume-defaults.ts'

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

/** The older field says the same as the newer one. */
export function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount
  if (name === undefined) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}

function tolerates({key = '', effect = ''}: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}

/** A pod leaves a broken node after five minutes, as admission DefaultTolerationSeconds has it. */
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
