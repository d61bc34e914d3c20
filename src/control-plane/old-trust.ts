import type {Node} from '../api/node.ts'
import {readFileIfThere} from '../fs/files.ts'
import {trustReportOf} from '../node/trust-report.ts'
import {CLUSTER_CA, KUBELET_CA} from './certificates.ts'
import {fileOf, type Plane} from './config/plane.ts'

interface Generation {
  pin: string
  others?: readonly {pin: string}[]
}

/** What the journal of a rotation has about CAs that have left. */
interface Replaced {
  action?: string
  done?: readonly string[]
  /** When the last certificates of the control plane were renewed. Nodes that registered later know the new CAs. */
  renewedAt?: string
  units: readonly {id: string; old: Generation; new: Generation}[]
}

/** A node that still trusts a CA that has left. */
export interface NodeWithOldTrust {
  name: string
  reasons: string[]
  node: Node
}

const pinsOf = ({pin, others = []}: Generation): string[] => [pin, ...others.map((one) => one.pin)]

/** The pins of a CA that the new generation does not have. */
function leaving({units}: Replaced, id: string): ReadonlySet<string> {
  const unit = units.find((one) => one.id === id)
  if (!unit) return new Set()
  const stays = new Set(pinsOf(unit.new))
  return new Set(pinsOf(unit.old).filter((pin) => pin !== '' && !stays.has(pin)))
}

/** The nodes that trust a CA that has left, by their own reports, and those that do not report and may do so. */
export function nodesWithOldTrust(journal: Replaced, nodes: readonly Node[]): NodeWithOldTrust[] {
  const [servers, callers] = [leaving(journal, CLUSTER_CA), leaving(journal, KUBELET_CA)]
  if (servers.size + callers.size === 0) return []
  return nodes.flatMap((node) => {
    const {name = '', creationTimestamp: registered} = node.metadata
    const report = trustReportOf(node)
    const isOld = (journal.renewedAt ?? '') > (registered ?? '')
    const reasons = report
      ? [
          ...(report.trusts.some((pin) => servers.has(pin))
            ? ['still trusts the old CA of the API server']
            : []),
          ...(report.kubeletClients?.some((pin) => callers.has(pin))
            ? ['its kubelet still accepts the old CA of those who call it']
            : []),
        ]
      : isOld
        ? ['may still trust the old CA: it does not report']
        : []
    return reasons.length === 0 ? [] : [{name, reasons, node}]
  })
}

/** Whether the trust in the old CAs has ended everywhere but on nodes. */
export const isReplaced = ({action, done = []}: Omit<Replaced, 'units'>): boolean =>
  action === 'complete' && done.includes('publish-new')

/** The names of the nodes that still trust a CA that the last rotation has replaced. */
export async function readOldTrust(
  plane: Pick<Plane, 'dir'>,
  listNodes: () => Promise<readonly Node[]>,
): Promise<string[]> {
  const content = await readFileIfThere(fileOf(plane, 'rotation'))
  try {
    const journal = JSON.parse(content?.toString() ?? '{}') as Replaced
    if (!isReplaced(journal)) return []
    return nodesWithOldTrust(journal, await listNodes()).map(({name}) => name)
  } catch (error) {
    // A journal that cannot be read is for `ca rotate` to report.
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}
