import {findHead} from './log-heads.ts'
import type {KnownHead, LogNote} from './log-line.ts'

/** A signer begins, or takes over from another one. */
export interface Takeover {
  /** The newest heads that the signers have shown to each other. */
  known: readonly KnownHead[]
  /** Called for a line of its own log that is not in it. */
  onLost: (head: KnownHead) => void
}

/** What to note in a log when its signer takes over. `chain` is that of the log; undefined if it is empty. */
export async function takeoverNotes(
  path: string,
  chain: string | undefined,
  {known, onLost}: Takeover,
): Promise<LogNote[]> {
  const lost: KnownHead[] = []
  const others = known.filter((head) => head.chain !== chain)
  for (const head of known) {
    if (head.chain === chain && (await findHead(path, head)) !== 'there') lost.push(head)
  }
  lost.forEach(onLost)
  return [
    ...noteOf('lost', lost, 'the Lease of the signers has a line of this log that is not in it'),
    ...noteOf('took-over', others, 'this signer took over: where the other logs ended'),
  ]
}

const noteOf = (
  decision: LogNote['decision'],
  heads: readonly KnownHead[],
  reason: string,
): LogNote[] => (heads.length === 0 ? [] : [{decision, reason, heads}])
