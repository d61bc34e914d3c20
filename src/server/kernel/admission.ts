import type {ApiObject} from '../../api/meta.ts'
import type {OperationContext, Resource} from './resource.ts'
import {forbidden} from './status.ts'
import type {StatusError} from './status.ts'

/** A write that is about to happen. Plugins may change `object` in place. */
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

/** Throws a StatusError to refuse. */
type Admit = (operation: AdmissionOperation, context: OperationContext) => Promise<void> | void

/** A rule about the content of writes; who may write is the authorizer's decision. */
export interface AdmissionPlugin {
  name: string
  /** Before the resource's own rules: may change the object, and sees it as it was sent. */
  admit?: Admit
  /**
   * Creates and updates only, after the resource's own rules: sees what is about to be stored, and changes nothing. Invalid
   * objects never get here. As Kubernetes' validating plugins.
   */
  validate?: Admit
  /**
   * Creates only, once the object is stored and memory has it: a refusal deletes it again. For limits that creates at the same time, here
   * and at other servers, would exceed together.
   */
  confirm?: Admit
}

/** All plugins as one. */
export interface Admission {
  admit: Admit
  validate: Admit
  confirm: Admit
}

/** Plugins run in their order; the first refusal ends it. */
export function chainPlugins(plugins: readonly AdmissionPlugin[]): Admission {
  const admitting = plugins.flatMap(({admit}) => admit ?? [])
  const validating = plugins.flatMap(({validate}) => validate ?? [])
  const confirming = plugins.flatMap(({confirm}) => confirm ?? [])
  return {admit: inOrder(admitting), validate: inOrder(validating), confirm: inOrder(confirming)}
}

const inOrder =
  (rules: readonly Admit[]): Admit =>
  async (operation, context) => {
    for (const rule of rules) {
      const pending = rule(operation, context)
      // Most rules decide at once, and a wait for nothing costs more than they do.
      if (pending !== undefined) await pending
    }
  }

export const isResource = (
  {resource}: AdmissionOperation,
  group: string,
  ...plurals: string[]
): boolean => resource.group === group && plurals.includes(resource.plural)

/** Admission's 403, which names the object even if it has no name yet. */
export function denied(operation: AdmissionOperation, why: string): StatusError {
  const metadata = operation.object?.metadata
  const candidates = [operation.name, metadata?.name, metadata?.generateName]
  const name = candidates.find((one) => one !== undefined && one !== '') ?? 'Unknown'
  return forbidden(operation.resource, name, why)
}
