import type {Node} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {TrustError, hasCode} from '../errors.ts'
import {isReady} from './register-node.ts'

/**
 * Refuses the name of a Node that is Ready, as `kubeadm join` does: two machines would take turns in being it. Answers the Node of
 * that name where one is there and not Ready. A cluster that does not show its nodes is not asked twice.
 */
export async function requireNameFree(
  {nodes}: Pick<ApiClient, 'nodes'>,
  name: string,
): Promise<Node | undefined> {
  let node: Node | undefined
  try {
    node = await nodes.find(name)
  } catch (error) {
    if (!hasCode(error, 'FORBIDDEN')) throw error
  }
  if (!node || !isReady(node)) return node
  throw new TrustError('NODE_EXISTS', `there is a Node "${name}" already, and it is Ready`, {
    facts: {node: name},
    hints: [
      'choose another name with --node-name',
      `or, if this machine takes its place, run "kubectl delete node ${name}" on the control plane and join again: it then says how to let it in`,
    ],
  })
}
