import type {ApiObject} from '../../../api/meta.ts'
import type {ObjectReader} from '../../kernel/resource.ts'

interface TokenVolume {
  name?: string
  projected?: {sources?: {serviceAccountToken?: {audience?: string}}[]}
  csi?: {driver?: string}
  persistentVolumeClaim?: {claimName?: string}
  ephemeral?: object
}

export interface TokenPod extends ApiObject {
  spec?: {nodeName?: string; volumes?: TokenVolume[]}
}

interface Claim extends ApiObject {
  spec?: {volumeName?: string}
}

interface Volume extends ApiObject {
  spec?: {csi?: {driver?: string}}
}

interface Driver extends ApiObject {
  spec?: {tokenRequests?: {audience?: string}[]}
}

/** Whom a pod's volumes give tokens to: itself by projected tokens, and the drivers of its CSI volumes. */
export function podAudiences({metadata, spec}: TokenPod, objects: ObjectReader): Set<string> {
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
  const claim = objects.get('persistentvolumeclaims', '', namespace, name) as Claim | undefined
  const volumeName = claim?.spec?.volumeName ?? ''
  if (volumeName === '') return undefined
  const volume = objects.get('persistentvolumes', '', '', volumeName) as Volume | undefined
  return volume?.spec?.csi?.driver
}

function driverAudiences(name: string | undefined, objects: ObjectReader): string[] {
  if (name === undefined) return []
  const driver = objects.get('csidrivers', 'storage.k8s.io', '', name) as Driver | undefined
  return (driver?.spec?.tokenRequests ?? []).map(({audience = ''}) => audience)
}
