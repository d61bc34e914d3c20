import type {Machine} from '../../../src/api/machine.ts'
import type {Node, NodeAddress} from '../../../src/api/node.ts'
import type {ServingChoices} from '../../../src/control-plane/serving-policy.ts'
import {SERVING, SERVING_USAGES, type Wish} from './support.ts'

/** In the cases of OpenShift's machine approver the node has 127.0.0.1 and "node1" too, which no node gets here without a person. */
export const ADDRESSES: NodeAddress[] = [
  {type: 'InternalIP', address: '10.0.0.2'},
  {type: 'ExternalIP', address: '10.0.0.1'},
  {type: 'InternalDNS', address: 'test'},
  {type: 'Hostname', address: 'node1.local'},
]

export const SERVING_BASE: Wish = {
  signerName: SERVING,
  commonName: 'system:node:test',
  username: 'system:node:test',
  groups: ['system:authenticated', 'system:nodes'],
  usages: SERVING_USAGES,
  names: {dns: ['test', 'node1.local'], ips: ['10.0.0.2', '10.0.0.1']},
}

/** One that expects a node of its own name. */
export const machine = (name: string, addresses = ADDRESSES, nodeRef?: string): Machine => ({
  metadata: {name},
  status: {
    addresses: [...addresses, {type: 'InternalDNS', address: name}],
    ...(nodeRef === undefined ? {} : {nodeRef: {name: nodeRef}}),
  },
})
export const node = (addresses: NodeAddress[], name = 'test'): Node => ({
  metadata: {name},
  status: {addresses},
})

export interface ServingCase {
  name: string
  wish?: Wish
  machines?: Machine[]
  node?: Node
  /** Other Nodes that are there. */
  others?: Node[]
  /** Where the server saw the node. */
  seenAt?: string
  policy?: ServingChoices
  decision: 'approve' | 'hold' | 'ignore'
  /** What it says where it does not approve. */
  says?: RegExp
  /** With the policy to deny it is still held. */
  mayBecomeRight?: boolean
}
