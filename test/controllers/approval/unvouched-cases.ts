import type {NodeAddress} from '../../../src/api/node.ts'
import {node, type ServingCase} from './serving-case.ts'

const AT = '192.168.7.4'
const ADDRESSES: NodeAddress[] = [
  {type: 'InternalIP', address: AT},
  {type: 'ExternalIP', address: '203.0.113.9'},
  {type: 'Hostname', address: 'test'},
  {type: 'InternalDNS', address: 'test.corp.example.com'},
]

/** There is a Node with its own word, and no Machine. */
const alone = {machines: [], node: node(ADDRESSES)}
const names = {dns: ['test'], ips: [AT]}

export const UNVOUCHED_CASES: ServingCase[] = [
  {
    name: 'a node without a Machine asks for its own name and where the server saw it',
    ...alone,
    wish: {names},
    seenAt: AT,
    decision: 'approve',
  },
  {
    name: 'the server saw it by IPv4 mapped into IPv6',
    ...alone,
    wish: {names},
    seenAt: `::ffff:${AT}`,
    decision: 'approve',
  },
  {
    name: 'it asks for its own name alone',
    ...alone,
    wish: {names: {dns: ['TEST.']}},
    decision: 'approve',
  },
  {
    name: 'it asks for an address that it registered and was not seen at',
    ...alone,
    wish: {names},
    seenAt: '192.168.7.5',
    decision: 'hold',
    says: /"192\.168\.7\.4" is not "192\.168\.7\.5", where the server saw node "test", no Machine vouches for it, and no --serving-cidr allows it/,
  },
  {
    name: 'nobody saw where it asks from',
    ...alone,
    wish: {names},
    decision: 'hold',
    says: /is not an address that the server saw node "test" at/,
  },
  {
    name: 'it is named as the address of another machine is written',
    machines: [],
    node: node([], '192.168.7.9'),
    wish: {
      commonName: 'system:node:192.168.7.9',
      username: 'system:node:192.168.7.9',
      names: {ips: ['192.168.7.9']},
    },
    seenAt: AT,
    decision: 'hold',
    says: /"192\.168\.7\.9" is not "192\.168\.7\.4", where the server saw/,
  },
  {
    name: 'it was seen at loopback',
    ...alone,
    wish: {names: {ips: ['127.0.0.1']}},
    seenAt: '127.0.0.1',
    decision: 'hold',
    says: /is a loopback address/,
  },
  {
    name: 'it was seen at an address that another Node has',
    ...alone,
    wish: {names},
    others: [node([{type: 'InternalIP', address: AT}], 'other')],
    seenAt: AT,
    decision: 'hold',
    says: /"192\.168\.7\.4" is also that of Node "other"/,
  },
  {
    name: 'it asks for a name in a domain, which it registered',
    ...alone,
    wish: {names: {dns: ['test.corp.example.com']}},
    decision: 'hold',
    says: /"test\.corp\.example\.com" is not the name of node "test", .* no --serving-domain allows it/,
  },
  {
    name: 'the policy allows the addresses and the domain',
    ...alone,
    wish: {names: {dns: ['test', 'test.corp.example.com'], ips: [AT, '203.0.113.9']}},
    policy: {cidrs: ['192.168.0.0/16', '203.0.113.9/32'], domains: ['corp.example.com']},
    decision: 'approve',
  },
  {
    name: 'the policy allows more than the Node has registered',
    ...alone,
    wish: {names: {dns: ['more.corp.example.com'], ips: ['192.168.1.1']}},
    policy: {cidrs: ['192.168.0.0/16'], domains: ['corp.example.com']},
    decision: 'hold',
    says: /"more\.corp\.example\.com" is not registered by Node "test".*"192\.168\.1\.1" is not registered/,
  },
  {
    name: 'the policy allows all, the API server’s too',
    machines: [],
    node: node([{type: 'InternalIP', address: '10.96.0.1'}]),
    wish: {names: {ips: ['10.96.0.1']}},
    policy: {cidrs: ['0.0.0.0/0', '::/0']},
    decision: 'hold',
    says: /service range/,
  },
  {
    name: 'the policy allows another domain with the same end',
    machines: [],
    node: node([{type: 'InternalDNS', address: 'test.evilcorp.example'}]),
    wish: {names: {dns: ['test.evilcorp.example']}},
    policy: {domains: ['corp.example']},
    decision: 'hold',
  },
]
