import type {TokenRequest} from '../../../api/authentication.ts'
import type {Received} from '../../../api/meta.ts'
import type {Pod} from '../../../api/pod.ts'
import {notFound} from '../../kernel/status.ts'
import {denied} from '../../kernel/admission.ts'
import type {CSIDriver} from '../../../api/storage.ts'
import type {PersistentVolume, PersistentVolumeClaim} from '../../../api/volumes.ts'
import type {ObjectReader} from '../../kernel/resource.ts'
import {quoted, requireThat, type NodeWrite, type NodeWriteRule} from './node-write.ts'

const AUDIENCE_VERB = 'request-serviceaccounts-token-audience'

/** A node gets tokens only for pods that run on it, and only for audiences that these pods use. */
export const serviceAccounts: NodeWriteRule = (write) => {
  const {node, operation, context} = write
  if (operation.verb !== 'create' || operation.subresource !== 'token') return
  const {spec = {}} = (operation.object ?? {metadata: {}}) as Received<TokenRequest>
  const bound = spec.boundObjectRef ?? {}
  const {name = '', uid = ''} = bound
  requireThat(
    write,
    bound.apiVersion === 'v1' && bound.kind === 'Pod' && name !== '',
    'node requested token not bound to a pod',
  )
  requireThat(write, uid !== '', 'node requested token with a pod binding without a uid')
  const pod = context.objects.get('pods', '', context.namespace, name) as Pod | undefined
  if (pod === undefined) throw notFound({group: '', plural: 'pods'}, name)
  requireThat(
    write,
    uid === pod.metadata.uid,
    `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  )
  requireThat(
    write,
    pod.spec?.nodeName === node,
    'node requested token bound to a pod scheduled on a different node',
  )
  requireAudience(write, pod, spec.audiences ?? [])
}

/** As Kubernetes' ServiceAccountNodeAudienceRestriction. No audience means the server's own. */
function requireAudience(write: NodeWrite, pod: Pod, audiences: string[]): void {
  const {operation, context} = write
  requireThat(write, audiences.length <= 1, 'node may only request 0 or 1 audiences')
  const [audience = ''] = audiences
  if (podAudiences(pod, context.objects).has(audience)) return
  const {user, namespace} = context
  const {allowed} = context.authorize(user, {
    verb: AUDIENCE_VERB,
    resource: {
      group: '',
      version: 'v1',
      resource: audience,
      subresource: '',
      namespace,
      name: operation.name,
    },
  })
  if (allowed) return
  throw denied(
    operation,
    `audience ${quoted(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
  )
}

/** The audiences of tokens that a pod's volumes use: projected tokens, and the drivers of its CSI volumes. */
function podAudiences({metadata, spec}: Pod, objects: ObjectReader): Set<string> {
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
