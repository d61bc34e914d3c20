import assert from 'node:assert/strict'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import type {Storage} from '../../../src/storage/storage.ts'
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../helpers/test-server.ts'
import {bundleOf} from '../../helpers/test-trust.ts'
import {Api} from '../support.ts'

export const SYSTEM = '/api/v1/namespaces/kube-system'
const DEFAULT = '/api/v1/namespaces/default'
const HOUR = 3_600_000

/** One of the servers on a store, and its administrator. */
export interface Member {
  server: TestServer
  api: Api
}

/** Servers that trust the clients of the first one. Each gets a handle of its own on the store. */
export async function startMembers(
  open: () => Promise<Storage> | Storage,
  options: TestServerOptions = {},
): Promise<Member[]> {
  const one = await startTestServer({storage: await open(), controllers: false})
  const trust = {bundles: {client: bundleOf(one.ca)}}
  const two = await startTestServer({storage: await open(), controllers: false, trust, ...options})
  return [one, two].map((server) => ({server, api: new Api(server.handler)}))
}

/** A right, or what proves who somebody is, that one server grants and another one checks. */
export interface Grant {
  give(at: Member): Promise<void>
  withdraw(at: Member): Promise<void>
  /** A read that needs it; the status of the answer. */
  use(at: Member): Promise<number>
  /** What `use` gets without it. */
  refusal: 401 | 403
}

const expect = async (call: Promise<{status: number; text: string}>, status: number) => {
  const answer = await call
  assert.equal(answer.status, status, answer.text)
}

/** A pod on a node, which lets the node read the pod's Secret. */
export const boundPod = (name: string): Grant => ({
  async give({api}) {
    await expect(api.post(`${DEFAULT}/secrets`, {metadata: {name}}), 201)
    await expect(api.post(`${DEFAULT}/serviceaccounts`, {metadata: {name}}), 201)
    const pod = {
      metadata: {name},
      spec: {
        serviceAccountName: name,
        automountServiceAccountToken: false,
        containers: [{name: 'c', image: 'i'}],
        volumes: [{name: 'v', secret: {secretName: name}}],
      },
    }
    await expect(api.post(`${DEFAULT}/pods`, pod), 201)
    const binding = {metadata: {name}, target: {kind: 'Node', name: 'n1'}}
    await expect(api.post(`${DEFAULT}/pods/${name}/binding`, binding), 201)
  },
  withdraw: ({api}) => expect(api.delete(`${DEFAULT}/pods/${name}`, {gracePeriodSeconds: 0}), 200),
  use: async ({api}) =>
    (await api.as('system:node:n1', 'system:nodes').get(`${DEFAULT}/secrets/${name}`)).status,
  refusal: 403,
})

/** A bootstrap token, whose bearer may read its own requests. */
export const bootstrapToken = (id: string): Grant & {text: string} => {
  const text = `${id}.0123456789abcdef`
  const secret = toSecret({
    token: parseToken(text),
    description: '',
    expires: new Date(Date.now() + HOUR),
    usages: {signing: false, authentication: true},
    groups: [],
  })
  return {
    text,
    give: ({api}) => expect(api.post(`${SYSTEM}/secrets`, secret), 201),
    withdraw: ({api}) => expect(api.delete(`${SYSTEM}/secrets/bootstrap-token-${id}`), 200),
    use: async ({api}) => {
      const headers = {authorization: `Bearer ${text}`}
      return (await api.anonymous().get('/api/v1/namespaces/kube-public', {headers})).status
    },
    refusal: 401,
  }
}

/** Lets everybody who is authenticated read what the tests above ask for. */
export async function letReaders({api}: Member): Promise<void> {
  const RBAC = '/apis/rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  await expect(
    api.post(`${RBAC}/clusterrolebindings`, {
      metadata: {name: 'readers'},
      roleRef: {apiGroup, kind: 'ClusterRole', name: 'view'},
      subjects: [{apiGroup, kind: 'Group', name: 'system:authenticated'}],
    }),
    201,
  )
}
