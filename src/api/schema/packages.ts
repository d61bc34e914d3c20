import {AUTHENTICATION} from './authentication.ts'
import {AUTHORIZATION, RBAC} from './authorization.ts'
import {CERTIFICATES, CERTIFICATES_BETA} from './certificates.ts'
import {CONTAINER} from './core-container.ts'
import {CORE, EVENT} from './core.ts'
import {NODE} from './core-node.ts'
import {PERSISTENT_VOLUME} from './core-persistent-volume.ts'
import {POD_STATUS} from './core-pod-status.ts'
import {POD} from './core-pod.ts'
import {SCHEDULING} from './core-scheduling.ts'
import {SERVICE} from './core-service.ts'
import {VOLUME_SOURCE} from './core-volume-source.ts'
import {VOLUME} from './core-volume.ts'
import {MACHINE} from './machine.ts'
import {META} from './meta.ts'

/** Types of leases; parse.ts describes the format. */
const COORDINATION = `
Lease object | A claim that somebody holds and renews, such as leadership.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:LeaseSpec! | What is wanted.

LeaseSpec | Who holds a lease, and for how long.
  1* holderIdentity:string | Who holds it.
  2* leaseDurationSeconds:int32 | How long others wait after the last renewal.
  3* acquireTime:MicroTime | When it was taken.
  4* renewTime:MicroTime | When it was last renewed.
  5* leaseTransitions:int32 | How often it changed hands.
  6* strategy:string(CoordinatedLeaseStrategy) | How the holder is chosen, where that is coordinated.
  7* preferredHolder:string | Who should take it over.
`

/** Types of runtime classes. */
const RUNTIME_CLASS = `
RuntimeClass object | A way to run containers that pods can choose.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 handler:string! required | What the container runtime calls it.
  3* overhead:Overhead | What running a pod costs beside its containers.
  4* scheduling:Scheduling | Where such pods can run.

Overhead | What running a pod costs beside its containers.
  1 podFixed:map<Quantity> | What every pod costs.

Scheduling | Where pods of a runtime class can run.
  1 nodeSelector:map<string> atomic | Labels that a node must have.
  2 tolerations:[]core.Toleration | Taints that do not matter.
`

/** Types of CSI drivers and what nodes know of them. */
const STORAGE = `
CSINode object | What the CSI drivers on a node say of themselves.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CSINodeSpec! required | What is wanted.

CSINodeSpec | The drivers of a node.
  1 drivers:[]CSINodeDriver! required merge(name) | The drivers on the node.

CSINodeDriver | A driver on a node.
  1 name:string! required | Its name.
  2 nodeID:string! required | The node's id, as the driver knows it.
  3 topologyKeys:[]string! | Labels that tell where volumes can be reached from.
  4* allocatable:VolumeNodeResources | How many volumes fit.

VolumeNodeResources | How many volumes fit on a node.
  1* count:int32 | How many.

CSIDriver object | How Kubernetes should deal with a CSI driver.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CSIDriverSpec! required | What is wanted.

CSIDriverSpec | What a driver needs and can do.
  1* attachRequired:bool | Whether volumes must be attached before they are mounted.
  2* podInfoOnMount:bool | Whether the driver wants to know the pod.
  3 volumeLifecycleModes:[]string(VolumeLifecycleMode) set | Persistent, Ephemeral or both.
  4* storageCapacity:bool | Whether the driver tells how much room there is.
  5* fsGroupPolicy:string(FSGroupPolicy) | Whether the owner of files can be changed.
  6 tokenRequests:[]TokenRequest | Tokens of the pods' service accounts that the driver wants.
  7* requiresRepublish:bool | Whether the driver is called again and again.
  8* seLinuxMount:bool | Whether volumes can be mounted with an SELinux label.
  9* nodeAllocatableUpdatePeriodSeconds:int64 | How often to ask how many volumes fit.
  10* serviceAccountTokenInSecrets:bool | Whether tokens are passed as secrets.
  11* preventPodSchedulingIfMissing:bool | Whether pods keep away from nodes without the driver.

TokenRequest | A token that a driver wants for the pods it serves.
  1 audience:string! required | Who the token is for.
  2* expirationSeconds:int64 | How long it should be valid.
`

/** A version of an API group, with the tables of its types. */
export interface SchemaPackage {
  /** As in the names of its types: Go's package, such as `rbac/v1`. */
  name: string
  group: string
  version: string
  /** The prefix of its definitions' names in OpenAPI. */
  openApi: string
  tables: string[]
}

const kubernetes = (name: string, group: string, ...tables: string[]): SchemaPackage => ({
  name,
  group,
  version: name.split('/')[1] ?? '',
  openApi: `io.k8s.api.${name.replace('/', '.')}`,
  tables,
})

export const PACKAGES: SchemaPackage[] = [
  {
    name: 'meta/v1',
    group: 'meta.k8s.io',
    version: 'v1',
    openApi: 'io.k8s.apimachinery.pkg.apis.meta.v1',
    tables: [META],
  },
  kubernetes(
    'core/v1',
    '',
    CORE,
    EVENT,
    NODE,
    POD,
    POD_STATUS,
    CONTAINER,
    SCHEDULING,
    VOLUME,
    VOLUME_SOURCE,
    PERSISTENT_VOLUME,
    SERVICE,
  ),
  kubernetes('certificates/v1', 'certificates.k8s.io', CERTIFICATES),
  kubernetes('certificates/v1beta1', 'certificates.k8s.io', CERTIFICATES_BETA),
  kubernetes('rbac/v1', 'rbac.authorization.k8s.io', RBAC),
  kubernetes('authorization/v1', 'authorization.k8s.io', AUTHORIZATION),
  kubernetes('authentication/v1', 'authentication.k8s.io', AUTHENTICATION),
  kubernetes('coordination/v1', 'coordination.k8s.io', COORDINATION),
  kubernetes('storage/v1', 'storage.k8s.io', STORAGE),
  kubernetes('node/v1', 'node.k8s.io', RUNTIME_CLASS),
  {
    name: 'machine/v1beta1',
    group: 'machine.openshift.io',
    version: 'v1beta1',
    openApi: 'io.openshift.machine.v1beta1',
    tables: [MACHINE],
  },
]

/** The names by which tables refer to each other. */
export const ALIASES: Record<string, string> = {meta: 'meta/v1', core: 'core/v1'}
