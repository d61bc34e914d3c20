import type {RotationReport} from '../../control-plane/ca-rotation/report.ts'
import {TrustError} from '../../errors.ts'
import {sleep, type Clock} from '../../runtime.ts'
import {isForPeople} from '../flags.ts'
import {onInterruption} from '../interruption.ts'
import type {Progress} from '../progress.ts'
import {toJson} from '../output.ts'
import {outputClosed} from '../standard-output.ts'
import {eventsBetween, type RotationEvent} from './events.ts'
import {Remaining} from './remaining.ts'
import {waitingText} from './waiting-text.ts'

export interface FollowOptions {
  read: () => Promise<RotationReport>
  emit: (event: RotationEvent) => void
  clock: Clock
  /** Milliseconds between two looks. */
  pause?: number
  /** Ends it early. */
  signal?: AbortSignal
}

const PAUSE = 1000
/** Looks that may fail in a row: servers restart, and change their certificates. */
const MOST_FAILURES = 30

/** Looks at a rotation again and again, until the command that is under way has nothing left to do. Returns the last report. */
export async function followRotation({
  read,
  emit,
  clock,
  pause = PAUSE,
  signal,
}: FollowOptions): Promise<RotationReport | undefined> {
  const remaining = new Remaining()
  let before: RotationReport | undefined
  for (let failures = 0; !signal?.aborted;) {
    try {
      const report = await read()
      failures = 0
      for (const event of eventsBetween(before, report, {now: clock.now(), remaining})) {
        emit(event)
      }
      if (report.isSettled) return report
      before = report
    } catch (error) {
      failures += 1
      if (failures > MOST_FAILURES || before === undefined) throw error
    }
    await sleep(pause)
  }
  return before
}

/**
 * Shows a rotation to its end: to programs one object a line, to people each step once it is done, and who is waited for. Returns the last
 * report if it is still to be printed.
 */
export async function watchRotation(
  read: () => Promise<RotationReport>,
  progress: Progress,
  format: string,
  clock: Clock,
): Promise<RotationReport | undefined> {
  if (format === 'json') {
    const emit = (event: RotationEvent) => void process.stdout.write(`${toJson(event)}\n`)
    await followRotation({read, emit, clock, signal: outputClosed})
    return undefined
  }
  if (!isForPeople(format)) {
    throw new TrustError('USAGE', `--watch cannot be used with --output ${format}`, {
      hints: ['use --output json: one object a line, for each change'],
    })
  }
  const release = onInterruption(() => {
    progress.leave()
    return undefined
  })
  try {
    return await followRotation({read, emit: showEvents(progress), clock})
  } finally {
    progress.leave()
    release()
  }
}

function showEvents(progress: Progress): (event: RotationEvent) => void {
  let running: {name: string; summary: string} | undefined
  return (event) => {
    if (event.event === 'step') {
      const phase = {name: event.step, summary: event.summary}
      if (running?.name !== event.step) {
        // Another command has begun something else.
        if (running) progress.stop()
        progress.begin(phase)
      }
      running = event.state === 'running' ? phase : undefined
      if (running) return
      progress.tell('done')
      progress.end(phase)
    } else if (event.event === 'waiting') {
      const {nodes, waitingFor: names, remainingSeconds} = event
      progress.update(waitingText({nodes, names, remaining: remainingSeconds ?? undefined}))
    }
  }
}
