import type {Resource} from '../kernel/resource.ts'
import {requireAddressRange, type AddressRange} from '../../pki/address-range.ts'
import type {ServerServices} from '../kernel/services.ts'
import {selfSubjectReviews, tokenReviews} from './authentication-reviews.ts'
import {certificateSigningRequests} from './certificate-signing-requests.ts'
import {clusterRoleBindings, clusterRoles, roleBindings, roles} from './rbac.ts'
import {configMaps} from './configmaps.ts'
import {events} from './events.ts'
import {machines} from './machines.ts'
import {namespaces} from './namespaces.ts'
import {leases, nodes} from './nodes.ts'
import {pods, runtimeClasses} from './pods.ts'
import {secrets} from './secrets.ts'
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from './authorization-reviews.ts'
import {serviceAccounts} from './serviceaccounts.ts'
import {services as serviceResource} from './services.ts'
import {csiDrivers, csiNodes, persistentVolumeClaims, persistentVolumes} from './volumes.ts'

/** kubeadm's default. */
const DEFAULT_RANGE = requireAddressRange('10.96.0.0/12')

const build = (services?: ServerServices, range = DEFAULT_RANGE): Resource[] => [
  configMaps,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  serviceAccounts(services),
  serviceResource(range),
  selfSubjectReviews,
  tokenReviews(services),
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews(services),
  subjectAccessReviews,
  certificateSigningRequests,
  leases,
  machines,
  runtimeClasses,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  csiDrivers,
  csiNodes,
]

/** The table as data, for discovery and OpenAPI: without services, tokens and reviews do not work. */
export const RESOURCES: readonly Resource[] = build()

/** The table that a server serves; services get their addresses from the range. */
export const createResources = (services: ServerServices, range?: AddressRange): Resource[] =>
  build(services, range)
