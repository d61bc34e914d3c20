import type {ApiClient} from '../../client/api-client.ts'
import {
  BOOTSTRAPPER,
  bootstrapperBinding,
  bootstrapperGroups,
  bootstrapperUser,
  bundlePlace,
} from '../../csr/bootstrapper.ts'
import {hasCode} from '../../errors.ts'
import {EXACTLY, ensureObjects, wantedClusterRoleBinding} from '../init/objects.ts'

const RBAC = 'rbac.authorization.k8s.io'
const ROLE = 'system:node-bootstrapper'

async function ensureNamespace(
  {namespaces}: Pick<ApiClient, 'namespaces'>,
  name: string,
): Promise<void> {
  if (await namespaces.find(name)) return
  try {
    await namespaces.create({metadata: {name}})
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}

/** The namespaces of a bootstrapper and of its ConfigMap, and its one right: to ask for a certificate and read the answer. */
export async function ensureBootstrapper(
  client: ApiClient,
  namespace: string,
  tell: (line: string) => void,
): Promise<void> {
  await ensureNamespace(client, namespace)
  await ensureNamespace(client, bundlePlace(namespace).namespace)
  const binding = wantedClusterRoleBinding(
    {
      metadata: {name: bootstrapperBinding(namespace)},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: ROLE},
      subjects: [{kind: 'ServiceAccount', name: BOOTSTRAPPER, namespace}],
    },
    EXACTLY,
  )
  await ensureObjects(client, [binding], tell)
}

export async function ensureAccount(
  {serviceAccounts}: Pick<ApiClient, 'serviceAccounts'>,
  namespace: string,
): Promise<void> {
  try {
    await serviceAccounts.create({metadata: {name: BOOTSTRAPPER, namespace}})
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}

/** Warns if the bootstrapper's requests are approved without a look at the inventory: whoever has its credential could then get any free node name. */
export async function excessOf(
  {subjectAccessReviews}: Pick<ApiClient, 'subjectAccessReviews'>,
  namespace: string,
): Promise<string | undefined> {
  const user = bootstrapperUser(namespace)
  const {status} = await subjectAccessReviews.create({
    metadata: {},
    spec: {
      user,
      groups: [...bootstrapperGroups(namespace), 'system:authenticated'],
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        subresource: 'nodeclient',
        verb: 'create',
      },
    },
  })
  return status?.allowed
    ? `${user} can join under any free node name, without a Machine, because it may create certificatesigningrequests/nodeclient (${status.reason ?? 'no reason given'}); remove that binding unless you want this`
    : undefined
}
