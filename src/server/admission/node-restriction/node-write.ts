import type {OperationContext} from '../../kernel/resource.ts'
import {denied, type AdmissionOperation} from '../../kernel/admission.ts'

/** A write by a node. */
export interface NodeWrite {
  /** Never empty. */
  node: string
  operation: AdmissionOperation
  context: OperationContext
}

/** Throws if the node may not do this. */
export type NodeWriteRule = (write: NodeWrite) => void

export const quoted = (text: string) => JSON.stringify(text)

/** Throws Forbidden if the condition does not hold. */
export function requireThat({operation}: NodeWrite, holds: boolean, why: string): void {
  if (!holds) throw denied(operation, why)
}
