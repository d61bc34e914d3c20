import type {ApiObject} from '../../../api/meta.ts'
import type {Pod, Volume} from '../../../api/pod.ts'

/** Names of objects in the pod's own namespace, by plural. */
export interface PodReferences {
  secrets: string[]
  configmaps: string[]
  persistentvolumeclaims: string[]
  serviceaccounts: string[]
  resourceclaims: string[]
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

export const isMirrorPod = ({metadata}: ApiObject): boolean =>
  metadata.annotations?.[MIRROR_ANNOTATION] !== undefined

/** What a kubelet has to read to run a pod: as Kubernetes' visitors of a pod's secrets, config maps and volumes. */
export function podReferences({metadata, spec = {}}: Pod): PodReferences {
  const {volumes = [], imagePullSecrets = []} = spec
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ]
  const variables = containers.flatMap(({env = []}) => env)
  const sources = containers.flatMap(({envFrom = []}) => envFrom)
  const projected = volumes.flatMap((volume) => volume.projected?.sources ?? [])
  return {
    secrets: namesIn([
      ...imagePullSecrets.map(({name}) => name),
      ...variables.map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
      ...sources.map(({secretRef}) => secretRef?.name),
      ...projected.map(({secret}) => secret?.name),
      ...volumes.flatMap(volumeSecrets),
    ]),
    configmaps: namesIn([
      ...variables.map(({valueFrom}) => valueFrom?.configMapKeyRef?.name),
      ...sources.map(({configMapRef}) => configMapRef?.name),
      ...projected.map(({configMap}) => configMap?.name),
      ...volumes.map(({configMap}) => configMap?.name),
    ]),
    persistentvolumeclaims: namesIn(volumes.map((volume) => claimOf(volume, metadata.name ?? ''))),
    serviceaccounts: namesIn([spec.serviceAccountName]),
    resourceclaims: namesIn(
      (spec.resourceClaims ?? []).map(({resourceClaimName}) => resourceClaimName),
    ),
  }
}

function volumeSecrets(volume: Volume): (string | undefined)[] {
  const {cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos} = volume
  return [
    volume.secret?.secretName,
    volume.azureFile?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map(
      (source) => source?.secretRef?.name,
    ),
  ]
}

/** The claim of an ephemeral volume is made for the pod, under both their names. */
function claimOf({name, persistentVolumeClaim, ephemeral}: Volume, pod: string) {
  return ephemeral ? `${pod}-${name ?? ''}` : persistentVolumeClaim?.claimName
}

const namesIn = (names: (string | undefined)[]): string[] =>
  [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[]
