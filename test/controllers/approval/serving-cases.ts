import {ADDRESSES, SERVING_BASE, machine, node, type ServingCase} from './serving-case.ts'
import {RESERVED_CASES} from './reserved-cases.ts'
import {SERVING_USAGES} from './support.ts'
import {UNVOUCHED_CASES} from './unvouched-cases.ts'
import {rsaKeys} from '../../helpers/rsa-keys.ts'

/** All other requests have an ECDSA key. */
const RSA_KEYS = rsaKeys()

const without = (address: string) => ADDRESSES.filter((one) => one.address !== address)
const renamed = (from: string, to: string) =>
  ADDRESSES.map((one) => (one.address === from ? {...one, address: to} : one))

/** The serving cases of OpenShift's machine approver, and what stands in for Machines where there are none. */
export const SERVING_CASES: ServingCase[] = [
  {name: 'all is registered by the Machine', decision: 'approve'},
  {name: 'the key is an RSA key', wish: {keys: RSA_KEYS}, decision: 'approve'},
  {
    name: 'key encipherment is left out',
    wish: {usages: ['digital signature', 'server auth']},
    decision: 'approve',
  },
  {
    name: 'the requester is "test"',
    wish: {username: 'test'},
    decision: 'hold',
    says: /"test" asks/,
  },
  {name: 'the requester is no node', wish: {username: 'system:node:'}, decision: 'hold'},
  {
    name: 'there is neither Machine nor Node',
    machines: [],
    decision: 'hold',
    says: /no Node and no Machine for "test"/,
    mayBecomeRight: true,
  },
  {
    name: 'the group of nodes is missing',
    wish: {groups: ['system:authenticated']},
    decision: 'hold',
    says: /groups are system:authenticated/,
  },
  {name: 'the group of users is missing', wish: {groups: ['system:nodes']}, decision: 'hold'},
  {
    name: 'a group is wrong',
    wish: {groups: ['system:authenticated', 'foo-bar']},
    decision: 'hold',
  },
  {
    name: 'there is one more group',
    wish: {groups: ['system:authenticated', 'system:nodes', 'more']},
    decision: 'approve',
  },
  {name: 'there are no usages', wish: {usages: []}, decision: 'hold', says: /usages are none/},
  {
    name: 'a usage is missing',
    wish: {usages: ['digital signature', 'key encipherment']},
    decision: 'hold',
  },
  {
    name: 'there is one more usage',
    wish: {usages: [...SERVING_USAGES, 'client auth']},
    decision: 'hold',
  },
  {
    name: 'the common name is another node’s',
    wish: {commonName: 'system:node:foobar'},
    decision: 'hold',
    says: /"system:node:test" asks for "system:node:foobar"/,
  },
  {name: 'the common name is no node’s', wish: {commonName: 'test'}, decision: 'hold'},
  {name: 'there is no organization', wish: {organizations: []}, decision: 'hold'},
  {name: 'there are no names', wish: {names: {}}, decision: 'hold'},
  {
    name: 'there is an email too',
    wish: {names: {...SERVING_BASE.names, emails: ['a@example.com']}},
    decision: 'hold',
  },
  {
    name: 'an address is not registered',
    wish: {names: {...SERVING_BASE.names, ips: ['10.0.0.2', '99.0.1.1']}},
    decision: 'hold',
    says: /"99\.0\.1\.1" is not registered by Machine "test"/,
  },
  {
    name: 'the Machine lost an address',
    machines: [machine('test', without('10.0.0.1'))],
    decision: 'hold',
    says: /"10\.0\.0\.1" is not registered/,
  },
  {
    name: 'the Machine lost a name',
    machines: [machine('test', without('node1.local'))],
    decision: 'hold',
    says: /"node1\.local" is not registered/,
  },
  {
    name: 'a name of the Machine has a closing dot',
    machines: [machine('test', renamed('node1.local', 'node1.local.'))],
    decision: 'approve',
  },
  {
    name: 'a name of the Machine is in capitals',
    machines: [machine('test', renamed('node1.local', 'NODE1.Local'))],
    decision: 'approve',
  },
  {
    name: 'an IPv6 address is written in another way',
    wish: {names: {ips: ['fd00::1']}},
    machines: [machine('test', [{type: 'InternalIP', address: 'FD00:0:0:0:0:0:0:1'}])],
    decision: 'approve',
  },
  {
    name: 'a wildcard is asked for',
    wish: {names: {dns: ['*.node1.local']}},
    decision: 'hold',
  },
  {
    name: 'the Node has registered more than its Machine',
    machines: [machine('test', without('10.0.0.1'))],
    node: node(ADDRESSES),
    decision: 'hold',
  },
  {
    name: 'a Machine of another name refers to the node',
    machines: [machine('other', ADDRESSES, 'test')],
    decision: 'approve',
  },
  {
    name: 'a Machine with the node’s name in its network',
    machines: [machine('other', [...ADDRESSES, {type: 'InternalDNS', address: 'Test.'}])],
    decision: 'approve',
  },
  {
    name: 'only the object of a Machine has the node’s name, which no approver of client certificates checks',
    machines: [{metadata: {name: 'test'}, status: {addresses: without('test')}}],
    decision: 'hold',
    says: /no Node and no Machine/,
    mayBecomeRight: true,
  },
  {
    name: 'a Node has registered what a Machine has that only has its name as Hostname',
    machines: [machine('other', [...without('test'), {type: 'Hostname', address: 'test'}])],
    node: node([{type: 'InternalIP', address: '10.0.0.2'}]),
    wish: {names: {ips: ['10.0.0.2']}},
    seenAt: '10.0.0.2',
    decision: 'hold',
    says: /"10\.0\.0\.2" is also that of Machine "other"/,
  },
  {
    name: 'the Machine of that name is another node’s',
    machines: [machine('test', ADDRESSES, 'another')],
    decision: 'hold',
    says: /no Node and no Machine/,
    mayBecomeRight: true,
  },
  {
    name: 'two Machines could be the node’s',
    machines: [
      machine('test'),
      machine('other', [...ADDRESSES, {type: 'InternalDNS', address: 'test'}]),
    ],
    decision: 'hold',
    says: /several Machines are of node "test": "test", "other"/,
    mayBecomeRight: true,
  },
  {
    name: 'another signer is asked',
    wish: {signerName: 'example.com/not-kubelet-serving'},
    decision: 'ignore',
  },
  ...RESERVED_CASES,
  ...UNVOUCHED_CASES,
]
