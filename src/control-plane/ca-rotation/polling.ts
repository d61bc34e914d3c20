import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {reloadServer} from '../server-process.ts'
import {withExpiry} from './expiry.ts'
import type {Journal} from './journal.ts'
import {withClient, type RotationContext} from './rotation-context.ts'

const PAUSE = 50
const SIGNAL_EVERY = 3000
const LONGEST_WAIT = 60_000

/** Looks again and again, with signals to the server, which may have been restarted in the meantime. */
export async function poll(
  context: RotationContext,
  journal: Journal,
  what: string,
  behind: (client: ApiClient) => Promise<string[]>,
): Promise<void> {
  const {plane, clock} = context
  const end = performance.now() + LONGEST_WAIT
  let signalAt = 0
  for (;;) {
    if (performance.now() >= signalAt) {
      if (!(await reloadServer(plane))) throw notRunning()
      signalAt = performance.now() + SIGNAL_EVERY
    }
    const waiting = await withClient(context, behind).catch(whileChanging)
    if (waiting.length === 0) return
    context.sawWaiting?.(waiting)
    // Nobody can follow any more: the caller continues with the steps for that.
    if (withExpiry(journal, clock.now()) !== journal) return
    if (performance.now() > end) throw tooLate(plane, what, waiting)
    await sleep(PAUSE)
  }
}

/** Until the server has reread its files, it may present or refuse what has expired. */
export function whileChanging(error: unknown): string[] {
  const isPassing = hasCode(
    error,
    'SERVER_CERTIFICATE_EXPIRED',
    'SERVER_NOT_TRUSTED',
    'SERVER_UNREACHABLE',
    'UNAUTHORIZED',
  )
  if (isPassing) return [error.message]
  throw error
}

export function notRunning(): TrustError {
  return new TrustError('SERVER_UNREACHABLE', 'the server of this control plane is not running', {
    hints: ['start it with "trustadm start", then run the command again: it resumes'],
  })
}

function tooLate(plane: Plane, what: string, waiting: readonly string[]): TrustError {
  const shown = waiting.slice(0, 5).join(', ')
  return new TrustError(
    'TIMED_OUT',
    `${what} within ${LONGEST_WAIT / 1000} s: ${shown}${waiting.length > 5 ? ` and ${waiting.length - 5} more` : ''}`,
    {hints: [`look at ${fileOf(plane, 'log')}`, 'run the command again: it resumes']},
  )
}
