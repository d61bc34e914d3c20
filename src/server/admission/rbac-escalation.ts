import {isDeepStrictEqual} from 'node:util'
import type {ApiObject} from '../../api/meta.ts'
import type {ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding} from '../../api/rbac.ts'
import {isMaster} from '../kernel/users.ts'
import {FULL_AUTHORITY, escalationProblem} from '../authz/rbac/escalation.ts'
import type {RbacIndex} from '../authz/rbac/rbac-index.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {forbidden, notFound} from '../kernel/status.ts'
import {isResource} from '../kernel/admission.ts'
import type {AdmissionOperation, AdmissionPlugin} from '../kernel/admission.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** Nobody grants what they do not hold, unless they may `escalate` that role or `bind` it. */
export function rbacEscalation(index: RbacIndex): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    admit(operation, context) {
      const {verb, subresource, object, old} = operation
      if ((verb !== 'create' && verb !== 'update') || subresource !== '') return
      if (object === undefined || operation.resource.group !== RBAC) return
      if (isMaster(context.user) || changesOnlyDeletionFields(object, old)) return
      if (isResource(operation, RBAC, 'roles', 'clusterroles')) {
        checkRole(index, operation, object as ClusterRole, context)
      } else if (isResource(operation, RBAC, 'rolebindings', 'clusterrolebindings')) {
        checkBinding(index, operation, object as RoleBinding, context)
      }
    },
  }
}

function checkRole(
  index: RbacIndex,
  operation: AdmissionOperation,
  role: ClusterRole,
  context: OperationContext,
): void {
  const {plural, version} = operation.resource
  const {user, namespace, name, authorize} = context
  const maySkip = authorize(user, {
    verb: 'escalate',
    resource: {group: RBAC, version, resource: plural, subresource: '', namespace, name},
  }).allowed
  if (maySkip) return
  requireHeld(index, operation, role.rules ?? [], context)
  if (!aggregates(role) && !aggregates(operation.old as ClusterRole | undefined)) return
  if (escalationProblem(user, index.rulesFor(user, namespace), FULL_AUTHORITY) !== undefined) {
    throw forbidden(
      operation.resource,
      role.metadata.name ?? '',
      'must have cluster-admin privileges to use the aggregationRule',
    )
  }
}

const aggregates = (role: ClusterRole | undefined) =>
  (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0

function checkBinding(
  index: RbacIndex,
  operation: AdmissionOperation,
  {roleRef}: ClusterRoleBinding | RoleBinding,
  context: OperationContext,
): void {
  const {user, namespace, authorize} = context
  const mayBind = authorize(user, {
    verb: 'bind',
    resource: {
      group: RBAC,
      version: '*',
      resource: roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles',
      subresource: '',
      namespace,
      name: roleRef.name,
    },
  }).allowed
  if (mayBind) return
  const rules = index.rulesOf(roleRef, namespace)
  if (rules === undefined) {
    throw notFound({group: RBAC, plural: roleRef.kind.toLowerCase()}, roleRef.name)
  }
  requireHeld(index, operation, rules, context)
}

function requireHeld(
  index: RbacIndex,
  {resource, object}: AdmissionOperation,
  rules: readonly PolicyRule[],
  {user, namespace}: OperationContext,
): void {
  const problem = escalationProblem(user, index.rulesFor(user, namespace), rules)
  if (problem !== undefined) throw forbidden(resource, object?.metadata.name ?? '', problem)
}

/** The garbage collector removes finalizers and owners from roles whose permissions it does not have. */
function changesOnlyDeletionFields(object: ApiObject, old: ApiObject | undefined): boolean {
  return (
    old !== undefined &&
    isDeepStrictEqual(withoutDeletionFields(object), withoutDeletionFields(old))
  )
}

/** Ignores `kind` and `apiVersion`, which one of the two may lack. */
function withoutDeletionFields({
  metadata,
  kind: _kind,
  apiVersion: _version,
  ...content
}: ApiObject) {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managers,
    resourceVersion: _revision,
    ...kept
  } = metadata
  return {...content, metadata: kept}
}
