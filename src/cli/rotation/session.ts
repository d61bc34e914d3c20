import * as Flags from '@oclif/core/flags'
import type {RotationContext} from '../../control-plane/ca-rotation/perform.ts'
import type {RotationObserver} from '../../control-plane/ca-rotation/rotate.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {createProgress, type ProgressOptions} from '../progress.ts'
import {dirOf} from '../folders.ts'

/** Who an operator continues without. */
export const ignoringFlags = {
  force: Flags.boolean({
    summary:
      'go on although somebody would be locked out; recorded in the journal and the audit log',
  }),
  ignore: Flags.string({
    helpValue: '<name>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary: 'a node or user to go on without; may be repeated',
  }),
  'ignore-unseen-since': Flags.string({
    helpValue: '<duration>',
    summary: 'clients that were not seen for so long count as gone, as in 7d',
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
  tell: (line: string) => void
  warn: (line: string) => void
}

/** What a command that rotates works with. */
export async function openRotation(flags: SessionFlags, clock: Clock): Promise<RotationSession> {
  const {loadPlane} = await import('../../control-plane/config/stored.ts')
  const {connectAsAdmin} = await import('../../control-plane/admin.ts')
  const {parseDuration} = await import('../../bootstrap/durations.ts')
  if (flags.kubeconfig !== undefined) throw notOurs()
  const progress = createProgress(flags)
  const {tell, warn, note} = progress
  const unseen = flags['ignore-unseen-since']
  const asPhase = ({id, summary}: {id: string; summary: string}) => ({name: id, summary})
  let shown = ''
  return {
    context: {
      plane: await loadPlane(dirOf(flags.dir)),
      clock,
      tell,
      warn,
      connect: connectAsAdmin,
      ignored: flags.ignore ?? [],
      force: flags.force ?? false,
      unseenFor: unseen === undefined ? undefined : parseDuration(unseen, '--ignore-unseen-since'),
    },
    observer: {
      begin: (step) => progress.begin(asPhase(step)),
      end: (step) => progress.end(asPhase(step)),
      waiting: (_step, dependents) => {
        const names = dependents.slice(0, 5).map(({name}) => name)
        const more = dependents.length > 5 ? ` and ${dependents.length - 5} more` : ''
        const line = `waiting for ${names.join(', ')}${more}`
        if (line !== shown) note(line)
        shown = line
      },
    },
    tell,
    warn,
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
