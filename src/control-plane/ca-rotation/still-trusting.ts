import {TrustError} from '../../errors.ts'
import {nodesWithOldTrust} from '../old-trust.ts'
import {waitsForNodes} from './advance.ts'
import type {Dependent} from './dependent.ts'
import {nodeReasons} from './dependents.ts'
import type {Journal} from './journal.ts'
import {ignoredIn} from './resume.ts'
import {withClient, type RotationContext} from './rotation-context.ts'

const todoOf = (name: string): string =>
  `"trustadm node run" on ${name} follows within 10 minutes; or run "trustadm node renew" there; if the machine is gone, delete its Node`

/** The nodes that still trust a CA that the completion has replaced, whether they are waited for or not. */
export async function readStillTrusting(
  context: RotationContext,
  journal: Journal,
): Promise<(Dependent & {isWaitedFor: boolean})[]> {
  const {items: nodes} = await withClient(context, (client) => client.nodes.list())
  context.sawNodes?.(nodes.length)
  const ignored = new Set([...(context.ignored ?? []), ...ignoredIn(journal).ignored])
  const isForced = journal.overrides.some((one) => one.ignored === 'everybody')
  const now = context.clock.now()
  return nodesWithOldTrust(journal, nodes).map(({name, reasons, node}) => {
    // A node that a forced completion has locked out cannot follow any more. The others do.
    const isLost = isForced && nodeReasons(journal, node, 'old', now).length > 0
    const isWaitedFor = !isLost && !ignored.has(name)
    return {kind: 'node', name, reasons, todo: todoOf(name), isWaitedFor}
  })
}

/** Those that the last step of a completion waits for. */
export const readWaitedFor = async (
  context: RotationContext,
  journal: Journal,
): Promise<Dependent[]> =>
  (await readStillTrusting(context, journal)).filter(({isWaitedFor}) => isWaitedFor)

const MOST_NAMES = 10

/**
 * Refuses to begin a rotation while the last one waits for nodes to end their trust in its old CAs. Returns whether it only has to be
 * noted that they did.
 */
export async function requireNoneTrusting(
  context: RotationContext,
  journal: Journal | undefined,
): Promise<boolean> {
  if (!journal || !waitsForNodes(journal)) return false
  const waiting = await readWaitedFor(context, journal)
  if (waiting.length === 0) return true
  const shown = waiting.slice(0, MOST_NAMES).map(({name}) => name)
  const more = waiting.length > MOST_NAMES ? ` and ${waiting.length - MOST_NAMES} more` : ''
  throw new TrustError(
    'CONFLICT',
    `the last rotation is not over: these nodes still trust its old CA: ${shown.join(', ')}${more}`,
    {
      facts: {waitingFor: waiting.map(({name}) => name)},
      hints: [
        'see what to do about each with "trustadm ca rotate status"; it ends automatically once none of them does',
        'delete the Nodes of machines that are gone, or end it without some with "trustadm ca rotate complete --ignore <node>"',
      ],
    },
  )
}
