import {randomInt} from 'node:crypto'
import type {ServiceAccount} from '../../api/core.ts'
import type {Pod, PodSpec} from '../../api/pod.ts'
import {isMirrorPod, podReferences} from '../authz/node/pod-references.ts'
import {
  denied,
  isResource,
  type AdmissionOperation,
  type AdmissionPlugin,
} from '../kernel/admission.ts'

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** Gives every new pod an account, and a token of that account unless the pod declines it. */
export const serviceAccountAdmission: AdmissionPlugin = {
  name: 'ServiceAccount',
  admit(operation, {namespace, objects}) {
    const {verb, subresource, object} = operation
    if (verb !== 'create' || subresource !== '' || object === undefined) return
    if (!isResource(operation, '', 'pods')) return
    const pod = object as Pod
    if (isMirrorPod(pod)) {
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

/** A mirror pod shows what a kubelet runs anyway: it must not be a way to reach secrets or tokens. */
function requireHarmlessMirror(operation: AdmissionOperation, pod: Pod): void {
  const {serviceaccounts, secrets} = podReferences(pod)
  const sources = (pod.spec?.volumes ?? []).flatMap(({projected}) => projected?.sources ?? [])
  const what =
    serviceaccounts.length > 0
      ? 'reference service accounts'
      : secrets.length > 0
        ? 'reference secrets'
        : sources.some(({serviceAccountToken}) => serviceAccountToken !== undefined)
          ? 'use ServiceAccountToken volume projections'
          : undefined
  if (what !== undefined) throw denied(operation, `a mirror pod may not ${what}`)
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
