import {isDeepStrictEqual} from 'node:util'
import type {ClusterRoleBinding, Subject} from '../../api/rbac.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findServer} from '../server-state.ts'
import type {Phase} from './phase.ts'

const RBAC = 'rbac.authorization.k8s.io'

function binding(
  name: string,
  role: string,
  kind: Subject['kind'],
  subject: string,
): ClusterRoleBinding {
  return {
    metadata: {name},
    roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
    subjects: [{apiGroup: RBAC, kind, name: subject}],
  }
}

/** What kubeadm binds on every cluster, with or without bootstrap tokens. */
const BINDINGS: readonly ClusterRoleBinding[] = [
  binding('kubeadm:cluster-admins', 'cluster-admin', 'Group', 'kubeadm:cluster-admins'),
  binding(
    'kubeadm:apiserver-kubelet-client',
    'system:kubelet-api-admin',
    'User',
    'kube-apiserver-kubelet-client',
  ),
]

type Bindings = Pick<ApiClient, 'clusterRoleBindings'>

const isAsWanted = (found: ClusterRoleBinding, wanted: ClusterRoleBinding): boolean =>
  isDeepStrictEqual(found.roleRef, wanted.roleRef) &&
  isDeepStrictEqual(found.subjects, wanted.subjects)

async function ensure(
  {clusterRoleBindings}: Bindings,
  wanted: ClusterRoleBinding,
): Promise<string> {
  const name = wanted.metadata.name ?? ''
  const found = await clusterRoleBindings.find({name})
  if (found && isAsWanted(found, wanted)) return `${name} is kept`
  // A binding's role cannot be changed: another one takes its place.
  if (found && !isDeepStrictEqual(found.roleRef, wanted.roleRef)) {
    await clusterRoleBindings.delete({name}, {uid: found.metadata.uid})
    await clusterRoleBindings.create(wanted)
    return `${name} was made anew`
  }
  if (found) {
    await clusterRoleBindings.update({...found, subjects: wanted.subjects ?? []})
    return `${name} was put right`
  }
  await clusterRoleBindings.create(wanted)
  return `${name} was made`
}

export const rbac: Phase = {
  name: 'rbac',
  summary: 'give the administrators their rights',

  async plan({plane, connect}) {
    const names = BINDINGS.map(({metadata}) => metadata.name ?? '')
    if (!(await findServer(plane))) return [`bind ${names.join(', ')}`]
    const client = await connect(plane)
    try {
      const {items} = await client.clusterRoleBindings.list()
      return BINDINGS.filter(
        (wanted) =>
          !items.some(
            (found) => found.metadata.name === wanted.metadata.name && isAsWanted(found, wanted),
          ),
      ).map(({metadata}) => `bind ${metadata.name ?? ''}`)
    } finally {
      await client.close()
    }
  },

  async run({plane, connect, tell}) {
    const client = await connect(plane)
    try {
      for (const wanted of BINDINGS) tell(await ensure(client, wanted))
    } finally {
      await client.close()
    }
  },
}
