import type {ApiObject} from './meta.ts'
import type {NodeAddress} from './node.ts'

/** The inventory that the machine approver decides by (`machine.openshift.io/v1beta1`). */
export interface Machine extends ApiObject {
  spec?: MachineSpec
  status?: MachineStatus
}

interface MachineSpec {
  providerID?: string
  [field: string]: unknown
}

interface MachineStatus {
  addresses?: NodeAddress[]
  nodeRef?: {apiVersion?: string; kind?: string; name?: string; uid?: string}
  phase?: string
  [field: string]: unknown
}
