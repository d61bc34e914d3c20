import {requireThat, type NodeWriteRule} from './node-write.ts'

const LEASE_NAMESPACE = 'kube-node-lease'

/** A node's lease has its name. */
export const leases: NodeWriteRule = (write) => {
  requireThat(
    write,
    write.context.namespace === LEASE_NAMESPACE,
    `can only access leases in the "${LEASE_NAMESPACE}" system namespace`,
  )
  requireThat(
    write,
    write.operation.name === write.node,
    'can only access node lease with the same name as the requesting node',
  )
}

/** So has its CSINode. */
export const csiNodes: NodeWriteRule = (write) =>
  requireThat(
    write,
    write.operation.name === write.node,
    'can only access CSINode with the same name as the requesting node',
  )
