import {isDeepStrictEqual} from 'node:util'
import type {Node} from '../../api/node.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'

const ROLE = 'node-role.kubernetes.io/control-plane'
const LABELS = {[ROLE]: '', 'node.kubernetes.io/exclude-from-external-load-balancers': ''}
const TAINT = {key: ROLE, effect: 'NoSchedule'}
const ATTEMPTS = 5

/** With kubeadm's labels and taint; what else the Node has stays. */
function marked(node: Node): Node {
  const {metadata, spec = {}} = node
  const {taints = []} = spec
  const isTainted = taints.some(({key, effect}) => key === TAINT.key && effect === TAINT.effect)
  return {
    ...node,
    metadata: {...metadata, labels: {...metadata.labels, ...LABELS}},
    spec: {...spec, taints: isTainted ? taints : [...taints, TAINT]},
  }
}

type Outcome = 'missing' | 'kept' | 'marked'

/** Kubelets write to their Nodes too: a conflict is tried again. */
async function mark({nodes}: Pick<ApiClient, 'nodes'>, name: string): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const node = await nodes.find(name)
    if (!node) return 'missing'
    if (isMarked(node)) return 'kept'
    try {
      await nodes.update(marked(node))
      return 'marked'
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT')) throw error
    }
  }
}

const isMarked = (node: Node): boolean => isDeepStrictEqual(marked(node), node)

/** As kubeadm's phase. `init` makes no Node: only a machine that has also joined as a node, or runs a kubelet, has one. */
export const markControlPlane: InitPhase = {
  name: 'mark-control-plane',
  summary: 'label and taint the Node of this machine, if it has one',

  plan: (context) =>
    planAsAdmin(context, [], async ({nodes}) => {
      const node = await nodes.find(context.plane.settings.nodeName)
      return node && !isMarked(node) ? [`label and taint the Node "${node.metadata.name}"`] : []
    }),

  async run(context) {
    const {nodeName} = context.plane.settings
    const outcome = await asAdmin(context, (client) => mark(client, nodeName))
    if (outcome === 'missing') context.tell(`no Node "${nodeName}" to mark as control plane`)
    else context.tell(`the Node "${nodeName}" is marked as control plane`)
  },
}
