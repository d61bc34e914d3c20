import type {Machine} from '../../../src/api/machine.ts'
import type {NodeAddress} from '../../../src/api/node.ts'
import {
  bootstrapperGroups,
  bootstrapperSecret,
  bootstrapperUser,
} from '../../../src/csr/bootstrapper.ts'
import {CLIENT_USAGES, type Wish} from './support.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** A live credential that does not show which one it is: that of another program. */
export const foreignCredential = (namespace = 'kube-system') => ({
  ...bootstrapperSecret(namespace),
  stringData: {token: 'of another program'},
})

export const bootstrapper = (namespace = 'kube-system') => ({
  username: bootstrapperUser(namespace),
  groups: [...bootstrapperGroups(namespace), 'system:authenticated'],
})

type Described = Pick<Machine, 'metadata' | 'status'>

export interface MachineCase {
  name: string
  /** What differs from the bootstrapper's request for the node. */
  wish?: (node: string) => Wish
  /** The Machines; absent: one with the node's name as its InternalDNS. */
  machines?: (node: string) => Described[]
  /** Nodes that are there. */
  nodes?: (node: string) => string[]
  /** How long after the Machines the request is made; before them if it is negative. */
  after?: number
  /** The word in the Event if it is held; absent if it is approved or left to others. */
  held?: string
  decision: 'approve' | 'hold' | 'ignore'
}

const dns = (address: string): NodeAddress => ({type: 'InternalDNS', address})

export const machineOf = (
  name: string,
  addresses: NodeAddress[] = [dns(name)],
  status: Machine['status'] = {},
): Described => ({metadata: {name}, status: {addresses, ...status}})

const held = (name: string, reason: string, differs: Partial<MachineCase>): MachineCase => ({
  name,
  decision: 'hold',
  held: reason,
  ...differs,
})
const malformed = (name: string, wish: Wish): MachineCase =>
  held(name, 'MachineHeld', {wish: () => wish})

/** The cases of OpenShift's machine approver on client certificates, and where names and keys are stricter here. */
export const MACHINE_CASES: MachineCase[] = [
  {name: 'the machine is expected', decision: 'approve'},
  {
    name: 'key encipherment is left out',
    wish: () => ({usages: ['digital signature', 'client auth']}),
    decision: 'approve',
  },
  {
    name: 'the Machine’s name is in capitals',
    machines: (node) => [machineOf('m', [dns(node.toUpperCase())])],
    decision: 'approve',
  },
  {
    name: 'the Machine’s name has a closing dot',
    machines: (node) => [machineOf('m', [dns(`${node}.`)])],
    decision: 'approve',
  },
  {
    name: 'the bootstrapper is OpenShift’s',
    wish: () => bootstrapper('openshift-machine-config-operator'),
    decision: 'approve',
  },
  malformed('there is one more organization', {organizations: ['system:nodes', 'foobar']}),
  malformed('there is a DNS name', {names: {dns: ['tokyo']}}),
  malformed('there is one more usage', {usages: [...CLIENT_USAGES, 'server auth']}),
  malformed('a usage is another', {usages: ['key encipherment', 'digital signature', 'cert sign']}),
  malformed('a usage is missing', {usages: ['key encipherment', 'client auth']}),
  {
    name: 'the common name is no node’s',
    wish: () => ({commonName: 'system:notnode:zebra'}),
    decision: 'ignore',
  },
  {
    name: 'the node has no name',
    wish: () => ({commonName: 'system:node:'}),
    decision: 'ignore',
  },
  {name: 'another user asks', wish: () => ({username: 'mallory'}), decision: 'ignore'},
  {
    name: 'an account of that name in another namespace asks',
    wish: () => bootstrapper('default'),
    decision: 'ignore',
  },
  {
    name: 'a node renews',
    wish: (node) => ({
      username: `system:node:${node}`,
      groups: ['system:nodes', 'system:authenticated'],
    }),
    decision: 'ignore',
  },
  malformed('the bootstrapper is in one more group', {
    groups: [...bootstrapper().groups, 'system:masters-not'],
  }),
  malformed('the bootstrapper is not in all of its groups', {
    groups: ['system:serviceaccounts', 'system:authenticated'],
  }),
  held('the Node exists', 'NodeExists', {nodes: (node) => [node]}),
  held('there is no Machine', 'NoMachine', {machines: () => []}),
  held('the Machine has that name only as a Hostname', 'NoMachine', {
    machines: (node) => [machineOf(node, [{type: 'Hostname', address: node}])],
  }),
  held('two Machines have the name', 'NoMachine', {
    machines: (node) => [machineOf('m', [dns(node)]), machineOf('n', [dns(node)])],
  }),
  held('the Machine has a node', 'MachineHasNode', {
    machines: (node) => [machineOf('m', [dns(node)], {nodeRef: {kind: 'Node', name: 'panda'}})],
  }),
  held('the Machine is another Node by another of its names', 'MachineHasNode', {
    machines: (node) => [machineOf('m', [dns(node), dns(`${node}.local`)])],
    nodes: (node) => [`${node}.local`],
  }),
  {name: 'it asks 8 minutes after the Machine was created', after: 8 * MINUTE, decision: 'approve'},
  {name: 'it asks 8 seconds before that', after: -8 * SECOND, decision: 'approve'},
  held('it asks 12 seconds before that', 'MachineNotExpected', {after: -12 * SECOND}),
  held('it asks more than 2 hours after that', 'MachineNotExpected', {
    after: 2 * HOUR + 2 * SECOND,
  }),
]
