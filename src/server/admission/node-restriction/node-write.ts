import type {OperationContext} from '../../kernel/resource.ts'
import {denied, type AdmissionOperation} from '../../kernel/admission.ts'

/** A write that a node asks for. */
export interface NodeWrite {
  /** Never empty. */
  node: string
  operation: AdmissionOperation
  context: OperationContext
}

/** Throws unless the node may. */
export type NodeWriteRule = (write: NodeWrite) => void

export const quoted = (text: string) => JSON.stringify(text)

/** Throws Forbidden if the condition does not hold. */
export function requireThat({operation}: NodeWrite, holds: boolean, why: string): void {
  if (!holds) throw denied(operation, why)
}
