import {begun, decide, isRotating, requirePrepared, stepsOf} from './advance.ts'
import {requireGate} from '../config/feature-gates.ts'
import type {Dependent} from './dependent.ts'
import {foundBy, isLost, requireNewUsable, requireUsable} from './expiry.ts'
import {groupsOf, type DependentGroup} from './groups.ts'
import {readJournal, type Action, type Journal} from './journal.ts'
import {newJournal, type StartOptions} from './new-journal.ts'
import {requireBeginnable} from './hand-over.ts'
import {readDependents} from './perform.ts'
import {followingServers, labelOf} from './following.ts'
import {withClient, type RotationContext} from './rotation-context.ts'
import {isShared} from './share.ts'
import {requireNoneTrusting} from './still-trusting.ts'

interface PlannedStep {
  id: string
  summary: string
  /** Whether an earlier run has done it, or nothing has to be done. */
  state: 'done' | 'to do'
}

/** What `--dry-run` prints. */
export interface RotationPlan {
  action: Action
  /** Whether an earlier run of the same command has begun it. */
  resumes: boolean
  /** The CAs that rotate, and "sa" for the keys of service accounts. */
  authorities: string[]
  steps: PlannedStep[]
  /** The servers that would follow; absent if only one can use the store. */
  servers?: string[]
  /** Who would be locked out: the command would refuse to begin. */
  dependents: Dependent[]
  /** The same in groups. */
  groups: DependentGroup[]
  /** Who will be locked out because the operator takes responsibility for it. */
  lockedOut: Dependent[]
}

/** The journal that a command would begin or go on with. */
async function journalFor(
  {plane, clock, brought}: RotationContext,
  action: Action,
  found: Journal | undefined,
  options: Omit<StartOptions, 'brought'>,
): Promise<Journal> {
  if (action === 'start' || !found)
    return await newJournal(plane, found, {...options, brought}, clock.now())
  if (action === 'complete') {
    requirePrepared(found)
    requireNewUsable(found, clock.now())
  }
  return begun(action, found)
}

/** What a command would do now. It is refused for the same reasons, and changes nothing. */
export async function planRotation(
  context: RotationContext,
  action: Action,
  options: Omit<StartOptions, 'brought'>,
): Promise<RotationPlan> {
  const {plane, clock, force = false} = context
  requireGate(plane.settings.featureGates, 'CARotation')
  const now = clock.now()
  const stored = await readJournal(plane)
  const isOver = action === 'start' && (await requireNoneTrusting(context, stored))
  const found = foundBy(action, isOver && stored ? {...stored, phase: 'Completed'} : stored, now)
  const resumes = decide(action, found).kind === 'resume'
  if (action === 'abort' && found) requireUsable(found, now)
  if (!resumes) await requireBeginnable(context, found)
  const journal = resumes && found ? found : await journalFor(context, action, found, options)
  const isLeaving = action === 'complete' && !resumes && isRotating(found)
  const isAsked = isLeaving && !force && !isLost(journal, now)
  const dependents = isAsked ? await readDependents(context, journal, 'old') : []
  const {ignored = [], unseenFor} = context
  const isOverridden = force || ignored.length > 0 || unseenFor !== undefined
  const everybody =
    isLeaving && isOverridden && !isLost(journal, now)
      ? await readDependents({...context, ignored: [], unseenFor: undefined}, journal, 'old')
      : []
  const servers = isShared(plane)
    ? await withClient(context, (client) => followingServers(client, clock, 0)).catch(() => [])
    : undefined
  return {
    action,
    resumes,
    authorities: journal.units.map(({id}) => id),
    steps: stepsOf(journal).map(({id, summary}) => ({
      id,
      summary,
      state: journal.done.includes(id) ? 'done' : 'to do',
    })),
    ...(servers && {servers: servers.map(labelOf)}),
    dependents,
    groups: groupsOf(dependents),
    lockedOut: everybody.filter(
      ({kind, name}) => !dependents.some((one) => one.kind === kind && one.name === name),
    ),
  }
}
