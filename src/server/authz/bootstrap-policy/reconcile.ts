import {isDeepStrictEqual} from 'node:util'
import type {ApiObject, LabelSelector, ObjectMeta} from '../../../api/meta.ts'
import type {PolicyRule, RoleRef, Subject} from '../../../api/rbac.ts'
import {covers} from '../rbac/escalation.ts'

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

/** What to do with a default object; `recreate` deletes first, since a roleRef cannot be changed. */
export type Reconciled<T> = {action: 'create' | 'recreate' | 'update'; object: T} | {action: 'keep'}

interface RbacObject extends ApiObject {
  rules?: PolicyRule[] | null
  aggregationRule?: {clusterRoleSelectors?: LabelSelector[]}
  subjects?: Subject[]
  roleRef?: RoleRef
}

/** The texts are compared first: they are equal at nearly every start, which is found out much faster. */
const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || isDeepStrictEqual(one, other)

/**
 * Brings a stored default role or binding up to date, as Kubernetes does at start: what is missing is added again, what
 * somebody added stays, and the annotation autoupdate "false" keeps the object as it is.
 */
export function reconcile<T extends RbacObject>(existing: T | undefined, wanted: T): Reconciled<T> {
  if (existing === undefined) return {action: 'create', object: wanted}
  if (existing.metadata.annotations?.[AUTOUPDATE] === 'false') return {action: 'keep'}
  if (!isSame(existing.roleRef, wanted.roleRef)) {
    // Subjects that were added to a binding of another role must not get into this one.
    return {action: 'recreate', object: wanted}
  }
  const metadata = withWantedMarks(existing.metadata, wanted.metadata)
  const object: T = {...existing, metadata, ...mergedContent(existing, wanted)}
  return isSame(object, existing) ? {action: 'keep'} : {action: 'update', object}
}

function withWantedMarks(existing: ObjectMeta, wanted: ObjectMeta): ObjectMeta {
  return {
    ...existing,
    labels: {...wanted.labels, ...existing.labels},
    annotations: {...wanted.annotations, ...existing.annotations},
  }
}

function mergedContent(existing: RbacObject, wanted: RbacObject): Partial<RbacObject> {
  if (wanted.roleRef !== undefined) {
    const subjects = mergeSubjects(existing, wanted)
    return subjects.length === 0 ? {} : {subjects}
  }
  if (wanted.aggregationRule !== undefined) {
    // The aggregation controller writes the rules of an aggregated role.
    return {aggregationRule: mergeSelectors(existing, wanted)}
  }
  const rules = existing.rules ?? []
  // The usual case, at every start, for a hundred roles.
  if (isSame(rules, wanted.rules)) return {}
  return {rules: [...rules, ...covers(rules, wanted.rules ?? []).missing]}
}

function mergeSubjects(existing: RbacObject, wanted: RbacObject): Subject[] {
  const kept = existing.subjects ?? []
  const missing = (wanted.subjects ?? []).filter(
    (subject) => !kept.some((other) => isSame(other, subject)),
  )
  return [...kept, ...missing]
}

function mergeSelectors(existing: RbacObject, wanted: RbacObject) {
  const kept = existing.aggregationRule?.clusterRoleSelectors ?? []
  const missing = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !kept.some((other) => isSame(other, selector)),
  )
  return {clusterRoleSelectors: [...kept, ...missing]}
}
