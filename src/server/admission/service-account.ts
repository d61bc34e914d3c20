import {randomInt} from 'node:crypto'
import type {ServiceAccount} from '../../api/core.ts'
import type {Pod, PodSpec} from '../../api/pod.ts'
import {
  denied,
  isResource,
  type AdmissionOperation,
  type AdmissionPlugin,
} from '../kernel/admission.ts'

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

/** Gives every new pod an account, and a token of that account unless the pod declines it. */
export const serviceAccountAdmission: AdmissionPlugin = {
  name: 'ServiceAccount',
  admit(operation, {namespace, objects}) {
    const {verb, subresource, object} = operation
    if (verb !== 'create' || subresource !== '' || object === undefined) return
    if (!isResource(operation, '', 'pods')) return
    const pod = object as Pod
    if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) {
      requireHarmlessMirror(operation, pod)
      return
    }

    const spec = (pod.spec ??= {})
    const name = [spec.serviceAccountName, spec.serviceAccount].find(isGiven) ?? 'default'
    spec.serviceAccountName = name
    spec.serviceAccount = name
    const account = objects.get('serviceaccounts', '', namespace, name) as
      ServiceAccount | undefined
    if (account === undefined) {
      throw denied(
        operation,
        `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
      )
    }
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
      mountToken(spec)
    }
    const pullSecrets = account.imagePullSecrets ?? []
    if ((spec.imagePullSecrets ?? []).length === 0 && pullSecrets.length > 0) {
      spec.imagePullSecrets = structuredClone(pullSecrets)
    }
  },
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== ''

function requireHarmlessMirror(operation: AdmissionOperation, pod: Pod): void {
  const problem = mirrorPodProblem(pod)
  if (problem !== undefined) throw denied(operation, problem)
}

function mountToken(spec: PodSpec): void {
  const lacking = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({volumeMounts = []}) => !volumeMounts.some(({mountPath}) => mountPath === MOUNT_PATH),
  )
  if (lacking.length === 0) return
  const volumes = (spec.volumes ??= [])
  const existing = volumes.find(({name}) => name?.startsWith(VOLUME_PREFIX))
  const name = existing?.name ?? `${VOLUME_PREFIX}${randomSuffix()}`
  if (existing === undefined) volumes.push(tokenVolume(name))
  for (const container of lacking) {
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      {name, readOnly: true, mountPath: MOUNT_PATH},
    ]
  }
}

const randomSuffix = () =>
  Array.from({length: 5}, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')

const tokenVolume = (name: string) => ({
  name,
  projected: {
    sources: [
      {serviceAccountToken: {expirationSeconds: 3607, path: 'token'}},
      {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
      {
        downwardAPI: {
          items: [
            {path: 'namespace', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.namespace'}},
          ],
        },
      },
    ],
    defaultMode: 420,
  },
})

/** A mirror pod shows what a kubelet runs anyway: it must not be a way to reach secrets or tokens. */
function mirrorPodProblem({spec = {}}: Pod): string | undefined {
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
