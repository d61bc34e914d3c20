import type {Machine} from '../api/machine.ts'
import type {Node} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {canonicalDns} from './approval/address-book.ts'
import {MachinesByName} from './approval/machine-indexes.ts'
import {machinesWhereServed} from './approval/optional-apis.ts'
import {follow, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

/** A node writes its own provider id: it can rule a Machine out, but never prove that it is this one. */
const contradicts = ({spec}: Machine, {spec: own}: Node): boolean =>
  Boolean(spec?.providerID && own?.providerID) && spec?.providerID !== own?.providerID

/** The Machine that the Node is, if it has to be told so. */
function machineToLink(node: Node, machines: readonly Machine[]): Machine | undefined {
  const {name, uid} = node.metadata
  const linked = machines.find(({status}) => status?.nodeRef?.name === name)
  // A Node that was deleted and registered again.
  if (linked) return linked.status?.nodeRef?.uid === uid ? undefined : linked
  const free = machines.filter((machine) => !machine.status?.nodeRef && !contradicts(machine, node))
  return free.length === 1 ? free[0] : undefined
}

/**
 * Writes into a Machine which Node it has become, so that no other machine can use it: by the InternalDNS only, which the machine
 * approver checks. When the Node is deleted, the reference stays, as with OpenShift's nodelink controller: only a person can make
 * the Machine good for another join, with `machine renew`.
 */
function linkNodes(
  nodes: Pick<Copy<Node>, 'find'>,
  machines: Pick<MachinesByName, 'named'>,
  writer: Pick<ApiClient, 'machines'>,
): Reconcile {
  return async (name, signal) => {
    const node = await nodes.find(name)
    if (node === undefined) return DONE
    const machine = machineToLink(node, await machines.named(canonicalDns(name)))
    if (machine === undefined) return DONE
    const {namespace = '', name: machineName = '', resourceVersion} = machine.metadata
    const nodeRef = {kind: 'Node', name, uid: node.metadata.uid}
    try {
      await writer.machines.patch(
        {namespace, name: machineName},
        {metadata: {resourceVersion}, status: {nodeRef}},
        {type: 'merge', subresource: 'status', signal},
      )
    } catch (error) {
      // Changed or deleted in the meantime: that event adds it again.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
    return DONE
  }
}

export function nodeLinkController(reader: ApiClient, writer: ApiClient): ControllerSpec {
  const machines = new MachinesByName(machinesWhereServed(reader), (name) => [name])
  // A cluster without Machines has nothing to look up when Nodes change.
  const nodes = follow(reader.nodes, (_node, name) =>
    machines.has(canonicalDns(name)) ? [name] : [],
  )
  return {
    name: 'node-link',
    sources: [machines, nodes],
    reconcile: linkNodes(nodes, machines, writer),
  }
}
