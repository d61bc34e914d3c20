import type {ApiClient} from '../../client/api-client.ts'
import {isOwnServer} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

export const MANAGER = 'kube-controller-manager'
/** Its current name for its approver, and the older one. */
const APPROVER_NAMES = ['certificatesigningrequest-approving-controller', 'csrapproving']

/** What the user may not read counts as not there. */
async function ifAllowed<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  }
}

/** Whether a kube-controller-manager works in the cluster, by its Lease. */
export async function isManagerRunning(
  {leases}: Pick<ApiClient, 'leases'>,
  clock: Clock,
): Promise<boolean> {
  const lease = await ifAllowed(leases.find({namespace: 'kube-system', name: MANAGER}))
  const {renewTime, leaseDurationSeconds = 15} = lease?.spec ?? {}
  if (renewTime === undefined) return false
  return clock.now().getTime() - Date.parse(renewTime) < leaseDurationSeconds * 1000
}

/** Whether a list of --controllers leaves out the approver. */
function leavesOutApprover(list: readonly string[]): boolean {
  if (list.some((word) => APPROVER_NAMES.includes(word))) return false
  const isExcluded = list.some((word) => APPROVER_NAMES.includes(word.replace(/^-/, '')))
  return isExcluded || (list.length > 0 && !list.includes('*'))
}

/** Whether every pod of it, as kubeadm runs it, has the flag that leaves approvals to others. Elsewhere its flags cannot be seen. */
async function isApproverOff({pods}: Pick<ApiClient, 'pods'>): Promise<boolean> {
  const select = {namespace: 'kube-system', labelSelector: `component=${MANAGER}`}
  const {items = []} = (await ifAllowed(pods.list(select))) ?? {}
  const lists = items.map(({spec}) =>
    (spec?.containers ?? [])
      .flatMap(({command = [], args = []}) => [...command, ...args])
      .flatMap((word) => /^--controllers=(.*)$/.exec(word)?.[1]?.split(',') ?? [])
      .map((word) => word.trim()),
  )
  return lists.length > 0 && lists.every(leavesOutApprover)
}

/** Whether kube-controller-manager approves requests there: unlike csr-approver, it gives a node's name to any key. */
export const managerApproves = async (
  client: Pick<ApiClient, 'leases' | 'pods' | 'version'>,
  clock: Clock,
): Promise<boolean> =>
  !(await isOwnServer(client)) &&
  (await isManagerRunning(client, clock)) &&
  !(await isApproverOff(client))
