import {isFinished, isRotating} from './advance.ts'
import type {Dependent} from './dependents.ts'
import {readJournal, type Journal} from './journal.ts'
import {readDependents, type RotationContext} from './perform.ts'
import {statusOf, type RotationStatus} from './status-map.ts'

/** What `ca rotate status` prints, and what the other commands print at their end. */
export interface RotationReport extends RotationStatus {
  /** Whether `complete` would go on. */
  isReady: boolean
  /** Who would be locked out, the most urgent first. */
  dependents: Dependent[]
  /** What people have to do; nothing here can do it for them. */
  advice: string[]
}

const PREPARED = [
  'Replace your kubeconfigs and the certificates you got by requests: those from before trust only the old CA, or are signed by it. "trustadm kubeconfig user" makes new ones.',
  'Restart pods that read the CA bundle only once, so that they trust the new CA.',
  'Extension API servers must have read the ConfigMap kube-system/extension-apiserver-authentication again.',
]
const COMPLETED = [
  'Pods that were not restarted still trust the old CA: restart them to end that.',
  'Kubeconfigs made during the rotation still contain the old CA: fetch new ones.',
]
function adviceFor(journal: Journal | undefined): string[] {
  if (journal === undefined) return []
  if (journal.action === 'start' && isRotating(journal)) return PREPARED
  return journal.action === 'complete' && journal.phase === 'Completed' ? COMPLETED : []
}

export async function reportRotation(context: RotationContext): Promise<RotationReport> {
  const journal = await readJournal(context.plane)
  const on = journal?.action === 'abort' ? 'new' : 'old'
  // Before the new CAs exist, nobody can have changed.
  const hasBoth = isRotating(journal) && journal.units.every((unit) => unit.new.pin !== '')
  const dependents = hasBoth ? await readDependents(context, journal, on) : []
  const isPrepared = journal?.action === 'start' && isRotating(journal) && isFinished(journal)
  return {
    ...statusOf(journal, dependents),
    isReady: isPrepared && dependents.length === 0,
    dependents,
    advice: adviceFor(journal),
  }
}
