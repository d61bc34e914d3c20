import type {ApiClient} from '../../client/api-client.ts'
import {decide} from '../../control-plane/requests/decide.ts'
import {findRequests, type RequestFilter} from '../../control-plane/requests/find.ts'
import {summarize} from '../../control-plane/requests/list.ts'
import type {Pairing} from '../../control-plane/requests/pairing.ts'
import {reportOn} from '../../control-plane/requests/show.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {TrustError, hasCode, messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Choice} from '../prompt.ts'
import type {Review} from '../views/requests-done.ts'
import {formatRequest} from '../views/requests-show.ts'
import {askedLine} from '../views/requests.ts'

type Answer = 'approve' | 'deny' | 'skip' | 'quit'

/** The person who reviews; tests replace it. */
export interface Reviewer {
  choose: (question: string, choices: readonly Choice<Answer>[]) => Promise<Answer>
  askText: (question: string) => Promise<string>
  /** Says why a review ends without a decision. */
  tell: (line: string) => void
  /** Where requests are shown. */
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>
}

const CHOICES: readonly Choice<Answer>[] = [
  {value: 'skip', name: 'skip'},
  {value: 'approve', name: 'approve'},
  {value: 'deny', name: 'deny'},
  {value: 'quit', name: 'quit'},
]

export function noTerminal(): TrustError {
  return new TrustError('USAGE', 'a review needs a terminal', {
    hints: [
      'in a script, use "trustadm certificate list --state pending" and "trustadm certificate approve"',
    ],
  })
}

/** Goes through the pending requests with a person, including those that arrive in the meantime. */
export async function reviewRequests(
  client: ApiClient,
  filter: RequestFilter,
  reviewer: Reviewer,
  clock: Clock,
  pairing: Pairing,
): Promise<Review> {
  const review: Review = {approved: [], denied: [], skipped: [], failed: []}
  const seen = new Set<string | undefined>()
  const pending = async () => {
    const found = await findRequests(client, {...filter, states: ['Pending']}, clock)
    return found.filter(({metadata}) => !seen.has(metadata.uid))
  }
  for (let waiting = await pending(); waiting.length > 0; waiting = await pending()) {
    for (const [index, csr] of waiting.entries()) {
      seen.add(csr.metadata.uid)
      const report = await reportOn(client, csr, clock, pairing)
      const rule = '─'.repeat(Math.min(reviewer.stream.columns || 40, 40))
      const text = formatRequest(report, {now: clock.now(), stream: reviewer.stream})
      reviewer.stream.write(`\n${rule}\n${text}\n`)
      const left = waiting.length - index - 1
      // A short summary again: on a small screen the top of the report has scrolled away.
      const line = askedLine({
        ...(await summarize(csr, {decode: true})),
        pairingWords: report.pairingWords,
      })
      const question = `${line}${left === 0 ? '' : ` (${left} more)`}`
      const answer = await reviewer.choose(question, CHOICES)
      if (answer === 'quit') return ended()
      await settle({name: nameOf(csr), uid: csr.metadata.uid}, answer)
    }
  }
  return ended()

  function ended(): Review {
    if (seen.size === 0) reviewer.tell('no pending certificate requests found')
    else if (Object.values(review).flat().length === 0) reviewer.tell('no request was decided')
    return review
  }

  async function settle(target: {name: string; uid: string | undefined}, answer: Answer) {
    if (answer !== 'approve' && answer !== 'deny') return void review.skipped.push(target.name)
    const said = answer === 'deny' ? await reviewer.askText('Why? (may be empty)') : ''
    const message = said === '' ? undefined : said
    try {
      await decide(client, target, {decision: answer, message}, clock)
      review[answer === 'approve' ? 'approved' : 'denied'].push(target.name)
    } catch (error) {
      // The person continues with the other requests; only errors that affect all of them end the review.
      if (!hasCode(error, 'ALREADY_DECIDED', 'NOT_FOUND', 'CONFLICT', 'FORBIDDEN')) throw error
      reviewer.stream.write(`${messageOf(error)}\n`)
      review.failed.push(target.name)
    }
  }
}
