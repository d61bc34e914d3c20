import type {Decision} from '../../control-plane/requests/decide.ts'
import {hintText} from '../../errors.ts'
import {TrustCommand} from '../command.ts'
import type {DecideFlags} from './decide.ts'

const DONE: Record<Decision, string> = {approve: 'approved', deny: 'denied'}

/** What `approve` and `deny` share: what was done is printed even if the rest failed. */
export abstract class DecideCommand extends TrustCommand {
  protected async decide(decision: Decision, flags: DecideFlags & {output: string}): Promise<void> {
    const {decideRequests} = await import('./decide.ts')
    const {decidedView} = await import('../views/requests-done.ts')
    const {failureOf} = await import('../../control-plane/requests/decide.ts')
    const decided = await decideRequests(decision, flags, this.clock)
    if (!decided) {
      process.stderr.write(`Nothing was ${DONE[decision]}.\n`)
      return this.endWith(1)
    }
    const failure = failureOf(decided)
    if (!failure || decided.requests.length > 0) {
      const failed = decided.failed.map((one) => ({...one, hints: one.hints.map(hintText)}))
      await this.print({...decided, failed}, flags.output, decidedView)
    }
    if (failure) throw failure
  }
}
