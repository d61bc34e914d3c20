import {join} from 'node:path'
import type {ApiObject} from '../../src/api/meta.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ResourceClient} from '../../src/client/resource-client.ts'
import {askAccess} from '../../src/controllers/approval/access-review.ts'
import {writeDecision} from '../../src/controllers/kernel/write-outcome.ts'
import {CLIENT_APPROVERS, recognise} from '../../src/csr/approvers.ts'
import {isOpen} from '../../src/csr/conditions.ts'
import {allHold} from '../../src/csr/opinion.ts'
import {requestedCertificate} from '../../src/csr/requested-certificate.ts'
import {sleep} from '../../src/runtime.ts'
import {Plane} from './plane.ts'

/** What only trustadm has, and what it does differently: its approver keeps records of nodes. */
const OWN_CONTROLLERS = [
  'csr-approver',
  'kubelet-serving-approver',
  'kubelet-serving-ca-publisher',
  'machine-approver',
  'node-link',
  'node-record-cleaner',
  'revocation-cleaner',
]
const OWN_PHASES = 'rbac,kubeadm-config,cluster-info,bootstrap-token'
const APPROVER = 'system:serviceaccount:kube-system:certificate-controller'
const OWN_NAME = /^trustadm[-:.]|^kubelet-serving-ca$/
const PAUSE = 50

export interface ForeignPlane {
  plane: Plane
  /** What trustadm had made for itself, and is gone: "Role kube-system/trustadm:node". */
  removed: string[]
  stop(): Promise<void>
}

/**
 * A server of ours with the controllers that kube-controller-manager has, and with the roles and objects of Kubernetes alone. Certificate
 * requests of nodes are approved as kube-controller-manager does, with its rights.
 */
export async function startForeignPlane(): Promise<ForeignPlane> {
  const plane = await Plane.start('--skip-phases', OWN_PHASES)
  const off = OWN_CONTROLLERS.map((name) => `-${name}`).join()
  await plane.restart(undefined, '--controllers', `*,${off}`)
  const kubeconfig = await readKubeconfig(join(plane.cluster.dir, 'super-admin.conf'))
  const access = await resolveAccess(kubeconfig)
  const admin = connectTo(access)
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system']
  const approver = connectTo({...access, impersonate: {username: APPROVER, groups}})
  await allowTokens(admin)
  const removed = await removeOwn(admin)
  const over = new AbortController()
  const approving = approve(admin, approver, over.signal)
  return {
    plane,
    removed,
    async stop() {
      over.abort()
      await approving
      await Promise.all([admin.close(), approver.close()])
      await plane.stop()
    },
  }
}

/** That controller works as kube-controller-manager's own user in Kubernetes, ours with an account and a role of its own. */
async function allowTokens(admin: ApiClient): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const name = 'service-account-token-controller'
  await admin.clusterRoleBindings.create({
    metadata: {name: 'kube-controller-manager-tokens'},
    roleRef: {apiGroup, kind: 'ClusterRole', name: 'system:kube-controller-manager'},
    subjects: [{kind: 'ServiceAccount', namespace: 'kube-system', name}],
  })
}

/** What has a name of trustadm, by kind. */
export async function ownObjects(admin: ApiClient): Promise<Map<string, () => Promise<unknown>>> {
  const found = new Map<string, () => Promise<unknown>>()
  const look = async <T extends ApiObject>(kind: string, resource: ResourceClient<T>) => {
    for (const {metadata} of (await resource.list()).items) {
      const {name = '', namespace} = metadata
      if (!OWN_NAME.test(name)) continue
      const place = namespace === undefined ? '' : `${namespace}/`
      found.set(`${kind} ${place}${name}`, () => resource.delete({name, namespace}))
    }
  }
  await look('ClusterRoleBinding', admin.clusterRoleBindings)
  await look('RoleBinding', admin.roleBindings)
  await look('ClusterRole', admin.clusterRoles)
  await look('Role', admin.roles)
  await look('ConfigMap', admin.configMaps)
  await look('Secret', admin.secrets)
  await look('Lease', admin.leases)
  await look('ServiceAccount', admin.serviceAccounts)
  return found
}

async function removeOwn(admin: ApiClient): Promise<string[]> {
  const own = await ownObjects(admin)
  await Promise.all([...own.values()].map((remove) => remove()))
  return [...own.keys()]
}

/** What csrapproving does: a requester that may create the subresource gets the certificate, whoever had the name before. */
async function approve(admin: ApiClient, approver: ApiClient, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    for (const csr of (await admin.csrs.list()).items.filter(isOpen)) {
      const requested = requestedCertificate(csr)
      if (requested === undefined) continue
      for (const known of CLIENT_APPROVERS) {
        if (!allHold(recognise(known, csr, requested))) continue
        if (!(await askAccess(approver, csr, known.name)).allowed) continue
        const {message} = known
        await writeDecision(approver, csr, {type: 'Approved', reason: 'AutoApproved', message})
        break
      }
    }
    await sleep(PAUSE, over).catch(() => undefined)
  }
}
