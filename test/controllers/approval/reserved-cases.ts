import type {NodeAddress} from '../../../src/api/node.ts'
import {machine, node, type ServingCase} from './serving-case.ts'

const registered = (address: string): NodeAddress[] => [
  {type: 'InternalIP', address},
  {type: 'Hostname', address: 'test'},
]

/** What no node gets without a person, though its Machine has registered it. */
const never = (name: string, address: string, says: RegExp, isName = false): ServingCase => ({
  name,
  wish: {names: isName ? {dns: [address]} : {ips: [address]}},
  machines: [machine('test', registered(address))],
  decision: 'hold',
  says,
})
const neverName = (name: string, address: string, says: RegExp) => never(name, address, says, true)

const foreign = (address: string) => [
  node([{type: 'InternalIP', address}], 'other'),
  node([], 'victim'),
]

export const RESERVED_CASES: ServingCase[] = [
  never('the address is loopback', '127.0.0.1', /is a loopback address/),
  never('the address is any of loopback', '127.9.9.9', /is a loopback address/),
  never('the address is loopback in IPv6', '::1', /is a loopback address/),
  never('the address is loopback mapped into IPv6', '::ffff:7f00:1', /is a loopback address/),
  never('the address is unspecified', '0.0.0.0', /is an unspecified address/),
  never('the address is unspecified in IPv6', '::', /is an unspecified address/),
  never('the address is link-local', '169.254.169.254', /is a link-local address/),
  never('the address is link-local in IPv6', 'fe80::1', /is a link-local address/),
  never('the address is multicast', '224.0.0.1', /is a multicast address/),
  never('the address is multicast in IPv6', 'ff02::1', /is a multicast address/),
  never('the address is that of broadcasts', '255.255.255.255', /is a reserved address/),
  never('the address is the service of the API server', '10.96.0.1', /service range/),
  never('the address is the first of the services', '10.96.0.0', /service range/),
  never('the address is the last of the services', '10.111.255.255', /service range/),
  never('the address is a service’s mapped into IPv6', '::ffff:a60:a', /service range/),
  neverName('a wildcard is registered', '*.example.com', /is a wildcard/),
  neverName('the name is a wildcard alone', '*', /is a wildcard/),
  neverName('the name is no name', 'a b.example.com', /is not a DNS name/),
  neverName('the name is an address', '127.0.0.1', /is a loopback address/),
  neverName('the name is a short form of loopback', '127.1', /is not a DNS name/),
  neverName('the name is a number', '0x7f000001', /is not a DNS name/),
  neverName('the name is localhost', 'localhost', /local name of every machine/),
  neverName('the name is below localhost', 'a.localhost.', /local name of every machine/),
  neverName('the name is the API server’s service', 'kubernetes', /the name of a service/),
  neverName('it is so with its namespace', 'kubernetes.default', /the name of a service/),
  neverName('it is so in full', 'kubernetes.default.svc.cluster.local', /the name of a service/),
  neverName('the name is another service’s', 'web.shop.svc', /the name of a service/),
  neverName('the name is one word, not the node’s', 'node1', /single word/),
  {
    name: 'the node has the name of the API server’s machine',
    wish: {
      commonName: 'system:node:localhost',
      username: 'system:node:localhost',
      names: {dns: ['localhost']},
    },
    machines: [machine('localhost', [{type: 'Hostname', address: 'localhost'}])],
    decision: 'hold',
    says: /local name of every machine/,
  },
  {
    ...never('another Node has the address', '10.0.0.1', /is also that of Node "other"/),
    others: foreign('10.0.0.1'),
  },
  {
    ...never('another Node has it, written in another way', 'fd00::1', /is also that of Node/),
    others: foreign('FD00:0:0:0::1'),
  },
  {
    ...neverName('another Node has the name', 'a.example.com', /is also that of Node "other"/),
    others: foreign('A.example.com.'),
  },
  {
    ...neverName('it is another Node’s own name', 'o.example.com', /that of Node "o.example.com"/),
    others: [node([], 'o.example.com')],
  },
  {
    ...neverName(
      'it is another Node’s in a domain',
      'victim.corp',
      /is also that of Node "victim"/,
    ),
    others: foreign('10.0.0.1'),
  },
  {
    ...never('another Machine has the address', '10.0.0.1', /is also that of Machine "/),
    machines: [
      machine('test', registered('10.0.0.1')),
      machine('spare', [{type: 'InternalIP', address: '10.0.0.1'}], 'elsewhere'),
    ],
  },
  {
    name: 'another Node has registered the node’s own name, which takes nothing away from it',
    wish: {names: {dns: ['test']}},
    others: [node([{type: 'Hostname', address: 'test'}], 'other')],
    decision: 'approve',
  },
]
