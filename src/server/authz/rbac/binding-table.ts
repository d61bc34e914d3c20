import type {UserInfo} from '../../../api/meta.ts'
import type {ClusterRoleBinding, RoleBinding, RoleRef, Subject} from '../../../api/rbac.ts'
import {serviceAccountUsername} from '../../kernel/users.ts'

/** One subject of a binding, with the sentence that says why it is allowed. */
export interface BoundSubject {
  roleRef: RoleRef
  /** The binding's; empty for cluster bindings. */
  namespace: string
  /** Where it stands among the binding's subjects. */
  position: number
  reason: string
}

const userKey = (name: string) => `u:${name}`
const groupKey = (name: string) => `g:${name}`

/** The bindings of the cluster or of one namespace, by the users and groups they are for. */
export class BindingTable {
  readonly #bySubject = new Map<string, Map<string, BoundSubject>>()
  readonly #keysByBinding = new Map<string, Set<string>>()
  /** The bindings of callers that are in memory anyway; dropped at every change. */
  #byUser = new WeakMap<UserInfo, BoundSubject[]>()

  get size(): number {
    return this.#keysByBinding.size
  }

  clear(): void {
    this.#bySubject.clear()
    this.#keysByBinding.clear()
    this.#byUser = new WeakMap()
  }

  upsert(binding: ClusterRoleBinding | RoleBinding, namespace: string): void {
    const name = binding.metadata.name ?? ''
    this.remove(name)
    const keys = new Set<string>()
    this.#keysByBinding.set(name, keys)
    for (const [position, subject] of (binding.subjects ?? []).entries()) {
      const key = keyOf(subject, namespace)
      if (key === undefined || keys.has(key)) continue
      keys.add(key)
      const bound = this.#bySubject.get(key) ?? new Map<string, BoundSubject>()
      this.#bySubject.set(key, bound)
      const {roleRef} = binding
      bound.set(name, {
        roleRef,
        namespace,
        position,
        reason: `RBAC: allowed by ${describe(name, roleRef, subject, namespace)}`,
      })
    }
  }

  remove(name: string): void {
    for (const key of this.#keysByBinding.get(name) ?? []) {
      const bound = this.#bySubject.get(key)
      bound?.delete(name)
      if (bound?.size === 0) this.#bySubject.delete(key)
    }
    this.#keysByBinding.delete(name)
    this.#byUser = new WeakMap()
  }

  /** Each binding that is for this user, once, by the first of its subjects that fits; in the order of their names, not that of their arrival. */
  bindingsOf(user: UserInfo): readonly BoundSubject[] {
    const known = this.#byUser.get(user)
    if (known !== undefined) return known
    const found = this.#findBindingsOf(user)
    this.#byUser.set(user, found)
    return found
  }

  #findBindingsOf(user: UserInfo): BoundSubject[] {
    const first = new Map<string, BoundSubject>()
    const collect = (key: string) => {
      for (const [name, subject] of this.#bySubject.get(key) ?? []) {
        const known = first.get(name)
        if (known === undefined || subject.position < known.position) first.set(name, subject)
      }
    }
    collect(userKey(user.username))
    for (const group of new Set(user.groups)) collect(groupKey(group))
    return [...first].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, bound]) => bound)
  }
}

function keyOf({kind, name, namespace}: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'Group') return groupKey(name)
  if (kind === 'User') return userKey(name)
  const home = namespace === undefined || namespace === '' ? bindingNamespace : namespace
  return home === '' ? undefined : userKey(serviceAccountUsername(home, name))
}

function describe(name: string, roleRef: RoleRef, subject: Subject, namespace: string): string {
  const binding =
    namespace === ''
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  const home =
    subject.namespace === undefined || subject.namespace === '' ? namespace : subject.namespace
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name
  return `${binding} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(who)}`
}
