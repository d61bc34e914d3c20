import type {ApiClient} from '../../client/api-client.ts'
import {shellWord} from '../../client/printable.ts'
import {isOpen} from '../../csr/conditions.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import {KUBELET_CLIENT, KUBELET_SERVING} from '../../csr/signers.ts'
import type {Dependent} from './dependent.ts'

/** For people. */
const FOR: Readonly<Record<string, string>> = {
  [KUBELET_CLIENT]: 'a client certificate',
  [KUBELET_SERVING]: 'a serving certificate',
}
const MOST_REQUESTS = 3

interface WaitingRequest {
  name: string
  signer: string
}

/** The requests of nodes that nobody has decided on, by node. Only what a node has asked for itself: whoever may ask for others could name any node. */
async function readWaiting({
  csrs,
}: Pick<ApiClient, 'csrs'>): Promise<ReadonlyMap<string, WaitingRequest[]>> {
  const found = new Map<string, WaitingRequest[]>()
  for (const signer of [KUBELET_SERVING, KUBELET_CLIENT]) {
    const {items} = await csrs.list({fieldSelector: `spec.signerName=${signer}`})
    for (const csr of items) {
      const node = nodeOfUser(csr.spec.username ?? '')
      if (node === undefined || !isOpen(csr)) continue
      found.set(node, [...(found.get(node) ?? []), {name: csr.metadata.name ?? '', signer}])
    }
  }
  return found
}

/**
 * The same with the requests of the nodes among them that wait for a person: until one is approved, its node cannot follow, and its agent
 * has nothing left to do.
 */
export async function withWaitingRequests(
  client: Pick<ApiClient, 'csrs'>,
  dependents: readonly Dependent[],
): Promise<Dependent[]> {
  if (!dependents.some(({kind}) => kind === 'node')) return [...dependents]
  const waiting = await readWaiting(client)
  return dependents.map((one) => {
    const all = one.kind === 'node' ? (waiting.get(one.name) ?? []) : []
    // The newest ones: an agent asks again when it gives up on a request.
    const requests = all.slice(-MOST_REQUESTS)
    if (requests.length === 0) return one
    const names = requests.map(({name}) => shellWord(name)).join(' ')
    const waits = requests.map(
      ({name, signer}) => `its request ${name} for ${FOR[signer] ?? signer} waits for approval`,
    )
    return {
      ...one,
      reasons: [...one.reasons, ...waits],
      todo: `look at it with "trustadm certificate show ${names}", then run "trustadm certificate approve ${names}"`,
    }
  })
}
