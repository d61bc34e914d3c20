import {beginningOf, findHead, isSealed, withLog} from './log-heads.ts'
import type {KnownHead, LogNote} from './log-line.ts'

/** A signer begins, or takes over from another one. */
export interface Takeover {
  /** The newest heads that the signers have shown to each other. */
  known: readonly KnownHead[]
  /** Called for a line that its own log, or one before that, must have. */
  onLost: (head: KnownHead) => void
}

interface OwnLog {
  /** Undefined if it is empty. */
  chain: string | undefined
  key: Buffer
  /** What is about to be written to it. */
  notes: readonly LogNote[]
}

/** Whether this signer has written a line to a log. Only its key can tell: names of machines are used again. */
const isOwn = ({seal, ...head}: KnownHead, key: Buffer): boolean =>
  seal !== undefined && isSealed({...head, seal}, key)

const withoutSeal = ({seal: _seal, ...head}: KnownHead): KnownHead => head

/** A look that fails shows nothing, and must not keep the signer from signing: the Lease holds what others wrote. */
async function isLost(path: string, head: KnownHead): Promise<boolean> {
  try {
    return (await findHead(path, head)) !== 'there'
  } catch {
    return false
  }
}

/** What to note in a log when its signer takes over. */
export async function takeoverNotes(
  path: string,
  {chain, key, notes}: OwnLog,
  {known, onLost}: Takeover,
): Promise<LogNote[]> {
  const first = await withLog(path, beginningOf).catch(() => undefined)
  const named = [...(first?.named ?? []), ...notes.flatMap(({heads = []}) => heads)]
  // A log before this one that it does not begin with was not moved away: it was gone when its signer started.
  const isGone = (head: KnownHead) =>
    isOwn(head, key) && !named.some((other) => other.chain === head.chain)
  const lost: KnownHead[] = []
  const others: KnownHead[] = []
  for (const head of known) {
    if (head.chain !== chain) (isGone(head) ? lost : others).push(withoutSeal(head))
    else if (await isLost(path, head)) lost.push(withoutSeal(head))
  }
  lost.forEach(onLost)
  return [
    ...noteOf(
      'lost',
      lost,
      'the Lease of the signers has a line of this log, or of one before it, that is gone',
    ),
    ...noteOf('took-over', others, 'this signer took over: where the other logs ended'),
  ]
}

const noteOf = (
  decision: LogNote['decision'],
  heads: readonly KnownHead[],
  reason: string,
): LogNote[] => (heads.length === 0 ? [] : [{decision, reason, heads}])
