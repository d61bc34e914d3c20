import type {Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {
  BOOTSTRAPPER,
  BOOTSTRAPPER_SECRET,
  bootstrapperBinding,
  bootstrapperGroups,
  bootstrapperSecret,
  bootstrapperUser,
  bundlePlace,
  KEEPS_SECRET,
  secretText,
} from '../../csr/bootstrapper.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {type Clock, sleep} from '../../runtime.ts'
import {ensureObjects, EXACTLY, wantedClusterRoleBinding} from '../init/objects.ts'

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

async function ensureAccount(
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

type Client = Pick<ApiClient, 'secrets' | 'serviceAccounts'>

/** A controller fills the Secret within a moment. */
const PATIENCE = 15_000
const POLL = 100

async function ensureSecret({secrets}: Client, namespace: string): Promise<boolean> {
  try {
    await secrets.create(bootstrapperSecret(namespace))
    return true
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
    return false
  }
}

async function filledSecret({secrets}: Client, namespace: string, clock: Clock): Promise<Secret> {
  const end = clock.now().getTime() + PATIENCE
  for (;;) {
    const secret = await secrets.find({namespace, name: BOOTSTRAPPER_SECRET})
    if (secret && secretText(secret, 'token') !== '') return secret
    if (clock.now().getTime() > end) {
      throw new TrustError(
        'TIMED_OUT',
        `the Secret ${namespace}/${BOOTSTRAPPER_SECRET} was not filled with a token within ${PATIENCE / 1000} s`,
        {
          hints: [
            'check that service-account-token-controller runs: see --controllers of "trustadm serve"; elsewhere, that kube-controller-manager does',
            'then run this command again',
          ],
        },
      )
    }
    await sleep(POLL)
  }
}

/** Sets or removes what makes the controller create the Secret again. */
async function keepSecret({serviceAccounts}: Client, namespace: string, isKept: boolean) {
  const ref = {namespace, name: BOOTSTRAPPER}
  const annotations = {[KEEPS_SECRET]: isKept ? BOOTSTRAPPER_SECRET : null}
  try {
    await serviceAccounts.patch(ref, {metadata: {annotations}}, {type: 'merge'})
  } catch (error) {
    if (isKept || !hasCode(error, 'NOT_FOUND')) throw error
  }
}

/** The bootstrapper's ServiceAccount and its Secret with a token; an existing one is kept. */
export async function ensureToken(
  client: Client,
  namespace: string,
  clock: Clock,
): Promise<{secret: Secret; isNew: boolean}> {
  await ensureAccount(client, namespace)
  const isNew = await ensureSecret(client, namespace)
  const secret = await filledSecret(client, namespace, clock)
  // Last: a controller that finds this before the Secret would create one itself, and report it as lost.
  await keepSecret(client, namespace, true)
  return {secret, isNew}
}

/** Deletes the Secret for good. */
export async function deleteToken(client: Client, namespace: string): Promise<void> {
  await keepSecret(client, namespace, false)
  await client.secrets.delete({namespace, name: BOOTSTRAPPER_SECRET})
}
