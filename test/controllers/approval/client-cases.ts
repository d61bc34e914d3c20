import {CLIENT_USAGES, SERVING, type Wish} from './support.ts'

export interface ClientCase {
  name: string
  wish: Wish
  nodeclient: boolean
  selfnodeclient: boolean
}

const both = (name: string, wish: Wish, recognised: boolean): ClientCase => ({
  name,
  wish,
  nodeclient: recognised,
  selfnodeclient: recognised,
})

/** The cases of Kubernetes' csrapproving controller, and the forms of a name that no node has. */
export const CLIENT_CASES: ClientCase[] = [
  both('a kubelet’s own request', {}, true),
  both('a common name that is no node’s', {commonName: 'mike', username: 'mike'}, false),
  both('no organization', {organizations: []}, false),
  both('another organization', {organizations: ['system:master']}, false),
  both('one more organization', {organizations: ['system:nodes', 'x']}, false),
  both('server auth besides', {usages: [...CLIENT_USAGES, 'server auth']}, false),
  both('a missing usage', {usages: ['key encipherment', 'client auth']}, false),
  both('a foreign signer', {signerName: 'example.com/not-correct'}, false),
  both('the serving signer', {signerName: SERVING}, false),
  both('the signer of users', {signerName: 'kubernetes.io/kube-apiserver-client'}, false),
  both('a DNS name', {names: {dns: ['foo']}}, false),
  both('an address', {names: {ips: ['10.0.0.1']}}, false),
  both('an email', {names: {emails: ['a@example.com']}}, false),
  both('a URI', {names: {uris: ['spiffe://a/b']}}, false),
  both('an empty name', {commonName: 'system:node:', username: 'system:node:'}, false),
  {
    name: 'another requester',
    wish: {username: 'joe'},
    nodeclient: true,
    selfnodeclient: false,
  },
  {
    name: 'the name of another node',
    wish: {commonName: 'system:node:bar'},
    nodeclient: true,
    selfnodeclient: false,
  },
]
