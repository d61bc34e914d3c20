import type {Pod} from '../../../api/pod.ts'
import type {CSIDriver} from '../../../api/storage.ts'
import type {PersistentVolume, PersistentVolumeClaim} from '../../../api/volumes.ts'
import type {ObjectReader} from '../../kernel/resource.ts'

/** The audiences of tokens that a pod's volumes use: projected tokens, and the drivers of its CSI volumes. */
export function podAudiences({metadata, spec}: Pod, objects: ObjectReader): Set<string> {
  const {name = '', namespace = ''} = metadata
  const audiences = new Set<string>()
  for (const volume of spec?.volumes ?? []) {
    for (const {serviceAccountToken} of volume.projected?.sources ?? []) {
      if (serviceAccountToken) audiences.add(serviceAccountToken.audience ?? '')
    }
    const claim = volume.ephemeral
      ? `${name}-${volume.name ?? ''}`
      : volume.persistentVolumeClaim?.claimName
    const driver = volume.csi?.driver ?? driverOfClaim(namespace, claim, objects)
    for (const audience of driverAudiences(driver, objects)) audiences.add(audience)
  }
  return audiences
}

function driverOfClaim(
  namespace: string,
  name: string | undefined,
  objects: ObjectReader,
): string | undefined {
  if (name === undefined) return undefined
  const claim = objects.get('persistentvolumeclaims', '', namespace, name) as
    PersistentVolumeClaim | undefined
  const volumeName = claim?.spec?.volumeName ?? ''
  if (volumeName === '') return undefined
  const volume = objects.get('persistentvolumes', '', '', volumeName) as
    PersistentVolume | undefined
  return volume?.spec?.csi?.driver
}

function driverAudiences(name: string | undefined, objects: ObjectReader): string[] {
  if (name === undefined) return []
  const driver = objects.get('csidrivers', 'storage.k8s.io', '', name) as CSIDriver | undefined
  return (driver?.spec?.tokenRequests ?? []).map(({audience = ''}) => audience)
}
