import * as Flags from '@oclif/core/flags'
import type {RotationContext} from '../../control-plane/ca-rotation/rotation-context.ts'
import type {RotationObserver} from '../../control-plane/ca-rotation/rotate.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {createProgress, type Progress, type ProgressOptions} from '../progress.ts'
import {dirOf} from '../folders.ts'
import {Remaining} from './remaining.ts'
import {WaitingReasons, waitingText} from './waiting-text.ts'

/** Who an operator continues without. */
export const ignoringFlags = {
  force: Flags.boolean({
    summary:
      'continue although somebody would be locked out; recorded in the journal and the audit log',
  }),
  ignore: Flags.string({
    helpValue: '<name>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary:
      'continue without this node and its user, this user, or this group of "ca rotate status"; may be repeated',
  }),
  'ignore-unseen-since': Flags.string({
    helpValue: '<duration>',
    summary: 'treat clients that were not seen for this long as gone, as in 7d',
  }),
}

/** Only to say why it does not work. */
export const kubeconfig = Flags.string({
  helpValue: '<file>',
  summary: "refused: only trustadm's own control plane can be rotated, on its machine",
  hidden: true,
})

export const wait = Flags.boolean({
  summary: 'wait until nodes and clients have changed, instead of leaving that to a later run',
})

interface SessionFlags extends ProgressOptions {
  dir?: string | undefined
  kubeconfig?: string | undefined
  force?: boolean
  ignore?: string[] | undefined
  'ignore-unseen-since'?: string | undefined
}

export interface RotationSession {
  context: RotationContext
  observer: RotationObserver
  progress: Progress
  /** Ends what runs on behalf of the command. */
  stop: () => void
}

/** What a command that rotates works with. */
export async function openRotation(flags: SessionFlags, clock: Clock): Promise<RotationSession> {
  const {loadPlane} = await import('../../control-plane/config/stored.ts')
  const {connectAsAdmin} = await import('../../control-plane/admin.ts')
  const {parseSpan} = await import('../../bootstrap/durations.ts')
  if (flags.kubeconfig !== undefined) throw notOurs()
  const progress = createProgress({...flags, hidesNames: true})
  const {tell, warn} = progress
  const unseen = flags['ignore-unseen-since']
  const unseenFor = unseen === undefined ? undefined : parseSpan(unseen, '--ignore-unseen-since')
  let nodes = 0
  const stopping = new AbortController()
  return {
    context: {
      plane: await loadPlane(dirOf(flags.dir)),
      clock,
      tell,
      warn,
      connect: connectAsAdmin,
      ignored: flags.ignore ?? [],
      force: flags.force ?? false,
      unseenFor,
      sawNodes: (count) => (nodes = count),
      sawWaiting: (names) =>
        progress.update(waitingText({nodes: {done: 0, total: 0}, names, remaining: undefined})),
      signal: stopping.signal,
    },
    observer: observerOf(progress, clock, () => nodes),
    progress,
    stop: () => stopping.abort(new Error('stopped')),
  }
}

/** Shows the steps, and how far those are that wait. */
function observerOf(progress: Progress, clock: Clock, countNodes: () => number): RotationObserver {
  const remaining = new Remaining()
  const reasons = new WaitingReasons()
  let begun = ''
  return {
    begin: ({id, summary}) => {
      // A step that waits begins each time it looks.
      if (begun === id) return
      // One that did not end is not done: an old CA has expired meanwhile.
      if (begun !== '') progress.leave()
      progress.begin({name: id, summary})
      begun = id
    },
    end: ({id, summary}) => {
      progress.end({name: id, summary})
      begun = ''
    },
    waiting: (_step, dependents) => {
      const total = countNodes()
      const behind = dependents.filter(({kind}) => kind === 'node').length
      const nodes = {done: Math.max(0, total - behind), total}
      const names = [...new Set(dependents.map(({name}) => name))]
      const left = remaining.observe(nodes.done, nodes.total, clock.now())
      progress.update(waitingText({nodes, names, remaining: left}))
      for (const line of reasons.observe(dependents)) progress.note(line)
    },
  }
}

function notOurs(): TrustError {
  return new TrustError(
    'USAGE',
    'the CAs of another cluster cannot be rotated: their keys and the files of its components are not here',
    {
      hints: [
        'run it on the machine of a control plane that trustadm set up, with --dir',
        'for kubeadm clusters, see "Manual Rotation of CA Certificates" in the documentation of Kubernetes',
      ],
    },
  )
}
