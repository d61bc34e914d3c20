import type {Subject} from '../../api/rbac.ts'
import {findServer} from '../server-state.ts'
import {wantedClusterRoleBinding, type WantedObject} from './objects.ts'
import type {Phase} from './phase.ts'

const RBAC = 'rbac.authorization.k8s.io'

function binding(name: string, role: string, kind: Subject['kind'], subject: string): WantedObject {
  return wantedClusterRoleBinding({
    metadata: {name},
    roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
    subjects: [{apiGroup: RBAC, kind, name: subject}],
  })
}

/** What kubeadm binds on every cluster, with or without bootstrap tokens. */
const BINDINGS: readonly WantedObject[] = [
  binding('kubeadm:cluster-admins', 'cluster-admin', 'Group', 'kubeadm:cluster-admins'),
  binding(
    'kubeadm:apiserver-kubelet-client',
    'system:kubelet-api-admin',
    'User',
    'kube-apiserver-kubelet-client',
  ),
]

export const rbac: Phase = {
  name: 'rbac',
  summary: 'give the administrators their rights',

  async plan({plane, connect}) {
    if (!(await findServer(plane))) return BINDINGS.map(({name}) => `make the ${name}`)
    const client = await connect(plane)
    try {
      const lines: string[] = []
      for (const {name, isThere} of BINDINGS) {
        if (!(await isThere(client))) lines.push(`see to the ${name}`)
      }
      return lines
    } finally {
      await client.close()
    }
  },

  async run({plane, connect, tell}) {
    const client = await connect(plane)
    try {
      for (const {name, ensure} of BINDINGS) tell(`the ${name} ${await ensure(client)}`)
    } finally {
      await client.close()
    }
  },
}
