import type {SubjectRulesReviewStatus} from '../../../api/authorization.ts'
import type {ApiObject, UserInfo} from '../../../api/meta.ts'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
} from '../../../api/rbac.ts'
import type {AccessAttributes} from '../../kernel/resource.ts'
import {BindingTable, type BoundSubject} from './binding-table.ts'
import {CompiledRole} from './compiled-role.ts'

export type RbacKind = 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding'

type RbacVerdict = {allowed: true; reason: string} | {allowed: false; reason: string}

export interface RulesForUser {
  rules: PolicyRule[]
  /** Why the rules may not be all there are. */
  error?: string
}

/** The RBAC objects, held ready for questions. Fed by the server's own event log, in the order of the commits. */
export class RbacIndex {
  readonly #clusterRoles = new Map<string, CompiledRole>()
  readonly #roles = new Map<string, CompiledRole>()
  readonly #clusterBindings = new BindingTable()
  readonly #bindingsByNamespace = new Map<string, BindingTable>()

  /** Takes an added or changed object. */
  upsert(kind: RbacKind, object: ApiObject): void {
    const {name = '', namespace = ''} = object.metadata
    switch (kind) {
      case 'ClusterRole':
        this.#clusterRoles.set(name, new CompiledRole((object as ClusterRole).rules ?? []))
        break
      case 'Role':
        this.#roles.set(`${namespace}/${name}`, new CompiledRole((object as Role).rules ?? []))
        break
      case 'ClusterRoleBinding':
        this.#clusterBindings.upsert(object as ClusterRoleBinding, '')
        break
      case 'RoleBinding': {
        const table = this.#bindingsByNamespace.get(namespace) ?? new BindingTable()
        this.#bindingsByNamespace.set(namespace, table)
        table.upsert(object as RoleBinding, namespace)
        break
      }
    }
  }

  remove(kind: RbacKind, namespace: string, name: string): void {
    switch (kind) {
      case 'ClusterRole':
        this.#clusterRoles.delete(name)
        break
      case 'Role':
        this.#roles.delete(`${namespace}/${name}`)
        break
      case 'ClusterRoleBinding':
        this.#clusterBindings.remove(name)
        break
      case 'RoleBinding': {
        const table = this.#bindingsByNamespace.get(namespace)
        table?.remove(name)
        if (table?.size === 0) this.#bindingsByNamespace.delete(namespace)
        break
      }
    }
  }

  /** Forgets everything and takes these instead. */
  replaceAll(objects: Iterable<{kind: RbacKind; object: ApiObject}>): void {
    this.#clusterRoles.clear()
    this.#roles.clear()
    this.#clusterBindings.clear()
    this.#bindingsByNamespace.clear()
    for (const {kind, object} of objects) this.upsert(kind, object)
  }

  /** As Kubernetes' RBACAuthorizer: cluster bindings first, then those of the request's namespace. */
  authorize(user: UserInfo, attributes: AccessAttributes): RbacVerdict {
    const missing = new Set<string>()
    const namespace = attributes.resource?.namespace ?? ''
    for (const bound of this.#bindingsOf(user, namespace)) {
      const role = this.#resolve(bound.roleRef, bound.namespace)
      if (role === undefined) missing.add(notFoundText(bound.roleRef))
      else if (role.allows(attributes)) return {allowed: true, reason: bound.reason}
    }
    return {allowed: false, reason: missing.size === 0 ? '' : `RBAC: ${aggregateText(missing)}`}
  }

  /** Every rule that applies to a user in a namespace; the empty namespace asks for cluster-wide rules only. */
  rulesFor(user: UserInfo, namespace: string): RulesForUser {
    const missing = new Set<string>()
    const rules: PolicyRule[] = []
    for (const bound of this.#bindingsOf(user, namespace)) {
      const role = this.#resolve(bound.roleRef, bound.namespace)
      if (role === undefined) missing.add(notFoundText(bound.roleRef))
      else rules.push(...role.rules)
    }
    return missing.size === 0 ? {rules} : {rules, error: aggregateText(missing)}
  }

  /** The rules that a roleRef stands for; undefined if there is no such role. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#resolve(roleRef, namespace)?.rules
  }

  *#bindingsOf(user: UserInfo, namespace: string): Generator<BoundSubject> {
    yield* this.#clusterBindings.bindingsOf(user)
    if (namespace === '') return
    const local = this.#bindingsByNamespace.get(namespace)
    if (local !== undefined) yield* local.bindingsOf(user)
  }

  #resolve(roleRef: RoleRef, namespace: string): CompiledRole | undefined {
    if (roleRef.kind === 'ClusterRole') return this.#clusterRoles.get(roleRef.name)
    return namespace === '' ? undefined : this.#roles.get(`${namespace}/${roleRef.name}`)
  }
}

const notFoundText = ({kind, name}: RoleRef) =>
  `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`

function aggregateText(errors: ReadonlySet<string>): string {
  const texts = [...errors]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}

/** The status of a SelfSubjectRulesReview: what `kubectl auth can-i --list` shows. */
export function rulesReview(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
): SubjectRulesReviewStatus {
  const {rules, error} = index.rulesFor(user, namespace)
  return {
    resourceRules: rules.flatMap(({verbs, apiGroups, resources, resourceNames}) =>
      resources === undefined || resources.length === 0
        ? []
        : [
            {
              verbs,
              ...(apiGroups === undefined ? {} : {apiGroups}),
              resources,
              ...(resourceNames === undefined ? {} : {resourceNames}),
            },
          ],
    ),
    nonResourceRules: rules.flatMap(({verbs, nonResourceURLs}) =>
      nonResourceURLs === undefined || nonResourceURLs.length === 0
        ? []
        : [{verbs, nonResourceURLs}],
    ),
    incomplete: false,
    ...(error === undefined ? {} : {evaluationError: error}),
  }
}
