import {AUTHENTICATION} from './authentication.ts'
import {AUTHORIZATION, RBAC} from './authorization.ts'
import {CERTIFICATES, CERTIFICATES_BETA} from './certificates.ts'
import {COORDINATION} from './coordination.ts'
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
import {RUNTIME_CLASS} from './node.ts'
import {STORAGE} from './storage.ts'

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
