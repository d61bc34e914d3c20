import assert from 'node:assert/strict'
import type {Answer, GoClient} from './go-client.ts'
import {goProtobuf, type Message} from './go-protobuf.ts'

/** kubeadm puts it on every call. */
export const TIMEOUT = '?timeout=10s'

export const SECRETS = '/api/v1/namespaces/kube-system/secrets'
export const CONFIG_MAPS = '/api/v1/namespaces/kube-system/configmaps'
export const PUBLIC_CONFIG_MAPS = '/api/v1/namespaces/kube-public/configmaps'

const RBAC = 'rbac.authorization.k8s.io'
const RBAC_PATH = `/apis/${RBAC}/v1`
const BOOTSTRAPPERS = 'system:bootstrappers:kubeadm:default-node-token'

const bytesOf = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]))

/** The Secret of a token, as kubeadm writes it. */
export const tokenSecret = (
  id: string,
  secret: string,
  {description, expiration}: {description?: string; expiration?: string} = {},
): Buffer =>
  goProtobuf('v1', 'Secret', {
    metadata: {name: `bootstrap-token-${id}`, namespace: 'kube-system'},
    type: 'bootstrap.kubernetes.io/token',
    data: bytesOf({
      'token-id': id,
      'token-secret': secret,
      ...(description && {description}),
      ...(expiration && {expiration}),
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': BOOTSTRAPPERS,
    }),
  })

/** An object on its way, with where it goes. */
export interface Wanted {
  collection: string
  name: string
  body: Buffer
}

export const configMap = (
  namespace: string,
  name: string,
  data: Record<string, string>,
  metadata: Message = {},
): Wanted => ({
  collection: `/api/v1/namespaces/${namespace}/configmaps`,
  name,
  body: goProtobuf('v1', 'ConfigMap', {metadata: {name, namespace, ...metadata}, data}),
})

const rbac = (kind: string, namespace: string | undefined, name: string, rest: Message): Wanted => {
  const plural = `${kind.toLowerCase()}s`
  return {
    collection: `${RBAC_PATH}/${namespace ? `namespaces/${namespace}/` : ''}${plural}`,
    name,
    body: goProtobuf(`${RBAC}/v1`, kind, {metadata: {name, namespace}, ...rest}),
  }
}

/** Subjects go without their API group; the server has to know it. */
const group = (name: string): Message => ({kind: 'Group', name})
export const user = (name: string): Message => ({kind: 'User', name})

/** A Role on one object, and its binding. */
export const readOne = (
  namespace: string,
  name: string,
  [resource, resourceName]: [string, string],
  subjects: Message[],
): Wanted[] => [
  rbac('Role', namespace, name, {
    rules: [
      {verbs: ['get'], apiGroups: [''], resources: [resource], resourceNames: [resourceName]},
    ],
  }),
  rbac('RoleBinding', namespace, name, {roleRef: {apiGroup: RBAC, kind: 'Role', name}, subjects}),
]

export const clusterRole = (name: string, rules: Message[]): Wanted =>
  rbac('ClusterRole', undefined, name, {rules})

export const clusterRoleBinding = (name: string, role: string, subject: Message): Wanted =>
  rbac('ClusterRoleBinding', undefined, name, {
    roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
    subjects: [subject],
  })

export const groups = {bootstrappers: group(BOOTSTRAPPERS), nodes: group('system:nodes'), group}

/** As kubeadm does: created, or replaced without a resourceVersion where it is there. */
export async function createOrUpdate(
  client: GoClient,
  {collection, name, body}: Wanted,
): Promise<Answer> {
  const answer = await client.call({method: 'POST', path: `${collection}${TIMEOUT}`, body})
  if (answer.status === 201) return answer
  assert.equal(answer.status, 409, answer.text)
  assert.equal(answer.object.reason, 'AlreadyExists')
  return client.put(`${collection}/${name}${TIMEOUT}`, body)
}
