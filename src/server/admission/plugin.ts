import type {ApiObject} from '../../api/meta.ts'
import type {OperationContext, Resource} from '../resource.ts'
import {forbidden} from '../status.ts'
import type {StatusError} from '../status.ts'

/** What is about to happen. Plugins may change `object` in place. */
export interface AdmissionOperation {
  verb: 'connect' | 'create' | 'delete' | 'update'
  resource: Resource
  /** Empty for the resource itself. */
  subresource: string
  /** As in the path; empty for a create. */
  name: string
  /** What is to be stored, or a subresource's body; absent for a delete. */
  object?: ApiObject
  /** What is stored now; absent for a create. */
  old?: ApiObject
}

/** A rule about the content of writes, whoever may write. Throws a StatusError to refuse. */
export interface AdmissionPlugin {
  name: string
  admit(operation: AdmissionOperation, context: OperationContext): Promise<void> | void
}

/** Plugins run in their order; the first refusal ends it. */
export function chainPlugins(plugins: readonly AdmissionPlugin[]): AdmissionPlugin['admit'] {
  return async (operation, context) => {
    for (const plugin of plugins) await plugin.admit(operation, context)
  }
}

export const isResource = (
  {resource}: AdmissionOperation,
  group: string,
  ...plurals: string[]
): boolean => resource.group === group && plurals.includes(resource.plural)

/** Admission's 403, which names the object also where it has no name yet. */
export function denied(operation: AdmissionOperation, why: string): StatusError {
  const metadata = operation.object?.metadata
  const candidates = [operation.name, metadata?.name, metadata?.generateName]
  const name = candidates.find((one) => one !== undefined && one !== '') ?? 'Unknown'
  return forbidden(operation.resource, name, why)
}
