import {messageOf, TrustError} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {requireGate} from '../config/feature-gates.ts'
import {exclusively} from '../exclusive.ts'
import {
  begun,
  decide,
  isFinished,
  isSameAction,
  nextStep,
  requirePrepared,
  waitsForNodes,
} from './advance.ts'
import type {Dependent} from './dependent.ts'
import {requireCaOfEtcd} from './etcd-members.ts'
import {formatGroups, groupsOf} from './groups.ts'
import {readJournal, writeJournal, type Action, type Journal} from './journal.ts'
import {foundBy, isLost, isStuck, requireNewUsable, requireUsable, withExpiry} from './expiry.ts'
import {newJournal, type StartOptions} from './new-journal.ts'
import {Liveness} from './following.ts'
import {claim, handOver, requireBeginnable, requireServers} from './hand-over.ts'
import {changesFiles, readDependents} from './perform.ts'
import {overrideOf, resumed} from './resume.ts'
import {withClient, type RotationContext} from './rotation-context.ts'
import {runStep, type Lock, type RotationOutcome} from './run-step.ts'
import {isShared} from './share.ts'
import {publishOverrides, publishStatus, statusOf, type PublishOptions} from './status-map.ts'
import type {Step} from './steps.ts'
import {requireNoneTrusting} from './still-trusting.ts'

/** What is shown while a rotation runs. */
export interface RotationObserver {
  begin: (step: Step) => void
  end: (step: Step) => void
  /** Called each time somebody is still waited for. */
  waiting: (step: Step, dependents: readonly Dependent[]) => void
}

export interface RotateOptions extends Omit<StartOptions, 'brought'> {
  /** Whether to wait for nodes and clients, or to leave that to a later run. */
  wait: boolean
  grace?: number | undefined
  observer: RotationObserver
  signal?: AbortSignal | undefined
  /** Whether an annotation asked for it. */
  isTriggered?: boolean
}

const LOOK_EVERY = 1000

/** Shows the state in the API. If the server is away, the journal still has it, and the next step shows it. */
async function show(
  context: RotationContext,
  journal: Journal,
  waiting: readonly Dependent[],
  options: PublishOptions = {},
): Promise<boolean> {
  // No client accepts the server then, or it accepts none.
  if (isStuck(journal)) return false
  try {
    const status = statusOf(journal, waiting)
    await withClient(context, (client) => publishStatus(client, status, options))
    return true
  } catch (error) {
    context.warn(`the state of the rotation cannot be shown in the API: ${messageOf(error)}`)
    return false
  }
}

/** Refuses to lock anybody out, and names everyone. */
function requireNobody(dependents: readonly Dependent[], action: Action): void {
  if (dependents.length === 0) return
  throw new TrustError(
    'CA_STILL_IN_USE',
    `${dependents.length} would be locked out:\n${formatGroups(dependents)}`,
    {
      facts: {groups: groupsOf(dependents), dependents},
      hints: [
        'see all of them with "trustadm ca rotate status --all"',
        `to continue without some of them, use "trustadm ca rotate ${action} --ignore <name>"; --force ignores all of them`,
        'clients that are gone: --ignore-unseen-since 7d',
      ],
    },
  )
}

async function begin(
  context: RotationContext,
  action: Action,
  journal: Journal | undefined,
  options: RotateOptions,
): Promise<Journal> {
  const {plane, clock, brought, force = false} = context
  const now = clock.now()
  if (action === 'start' || !journal)
    return await newJournal(plane, journal, {...options, brought}, now)
  if (action === 'abort') requireUsable(journal, now)
  if (action === 'complete') {
    requirePrepared(journal)
    requireNewUsable(journal, now)
    if (!force) await requireCaOfEtcd(plane, journal)
    if (!force && !isLost(journal, now))
      requireNobody(await readDependents(context, journal, 'old'), action)
  }
  const {overrides} = await recordOverride(context, action, journal)
  return {
    ...begun(action, journal),
    ...(options.grace !== undefined && {grace: options.grace}),
    overrides,
  }
}

/** Begins an action, unless another machine does so at the same time. */
async function claimed(
  context: RotationContext,
  action: Action,
  found: Journal | undefined,
  options: RotateOptions,
): Promise<Journal> {
  await requireBeginnable(context, found)
  return await claim(context, await begin(context, action, found, options))
}

/** What `complete --wait` waits for before it begins. */
const NOBODY_ON_OLD: Step = {
  id: 'nobody-on-old',
  summary: 'wait until nobody depends on the old CAs',
  work: {kind: 'dependents', on: 'old'},
}

/** Waits until a completion locks nobody out. Other commands are not kept out meanwhile. */
async function untilNobody(
  context: RotationContext,
  {observer, signal}: RotateOptions,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const stored = await readJournal(context.plane)
    const journal = stored && withExpiry(stored, context.clock.now())
    if (decide('complete', journal).kind === 'resume' || !journal) return
    requirePrepared(journal)
    const waiting = await readDependents(context, journal, 'old')
    if (waiting.length === 0) {
      if (!isFirst) observer.end(NOBODY_ON_OLD)
      return
    }
    // Only a person can confirm these, so waiting would never end.
    if (waiting.some(({kind}) => kind === 'replaced')) requireNobody(waiting, 'complete')
    if (isFirst) observer.begin(NOBODY_ON_OLD)
    observer.waiting(NOBODY_ON_OLD, waiting)
    await sleep(LOOK_EVERY, signal)
  }
}

/** Records what the operator takes responsibility for before anything changes: what cannot be recorded is not done. */
async function recordOverride(
  context: RotationContext,
  action: Action,
  journal: Journal,
): Promise<Journal> {
  const override = overrideOf(journal, action, context, context.clock.now())
  if (!override) return journal
  const overrides = [...journal.overrides, override]
  // Nobody can talk to the server then; the journal has it.
  if (!isLost(journal, context.clock.now()))
    await withClient(context, (client) => publishOverrides(client, overrides))
  return {...journal, overrides}
}

/** Goes on with what an earlier run began. */
async function resume(
  context: RotationContext,
  found: Journal,
  options: RotateOptions,
): Promise<Journal> {
  const {plane, brought, clock, force = false} = context
  if (found.action === 'abort') requireUsable(found, clock.now())
  if (found.action === 'complete' && !force && !waitsForNodes(found))
    await requireCaOfEtcd(plane, found)
  if (isShared(plane)) await requireServers(context, found)
  const journal = await resumed(plane, found, {...options, brought})
  return found.action === 'start' ? journal : await recordOverride(context, found.action, journal)
}

/** Begins an action or resumes it. Each step is noted on the disk before it and after it. */
export async function rotate(
  given: RotationContext,
  action: Action,
  options: RotateOptions,
): Promise<RotationOutcome> {
  const context: RotationContext = {liveness: new Liveness(), ...given}
  const {plane, tell} = context
  const {isTriggered = false} = options
  requireGate(plane.settings.featureGates, 'CARotation')
  if (action === 'start' && (await requireNoneTrusting(context, await readJournal(plane))))
    await rotate({...given, endsWait: true}, 'complete', {...options, wait: false})
  if (action === 'complete' && options.wait && !context.force) await untilNobody(context, options)
  const locked: Lock = (work) => exclusively(plane.dir, work, tell, options.signal)
  let journal = await locked(async () => {
    const stored = await readJournal(plane)
    const found = foundBy(action, stored, context.clock.now())
    const isResumed = decide(action, found).kind === 'resume'
    if (isResumed && found && waitsForNodes(found) && context.force) context.endsWait = true
    const next =
      isResumed && found
        ? await resume(context, found, options)
        : await claimed(context, action, found, options)
    if (next !== stored) await writeJournal(plane, next)
    return next
  })
  await show(context, journal, [], {isTriggered})
  for (;;) {
    const step = nextStep(journal)
    if (!step) return {journal: await ended(context, journal, locked), waiting: []}
    options.observer.begin(step)
    const before = journal
    const done: RotationOutcome = changesFiles(step)
      ? await locked(() => runStep(context, before, step, (work) => work()))
      : await runStep(context, before, step, locked)
    journal = done.journal
    if (done.waiting.length === 0) {
      if (journal.done.includes(step.id)) options.observer.end(step)
      if (!isFinished(journal)) await show(context, journal, [])
      continue
    }
    options.observer.waiting(step, done.waiting)
    await show(context, journal, done.waiting)
    if (!options.wait) return {journal: await handOver(context, journal), waiting: done.waiting}
    await sleep(LOOK_EVERY, options.signal)
  }
}

/** Shows the end, and notes that it was shown, unless another command has begun something else by then. */
async function ended(context: RotationContext, journal: Journal, lock: Lock): Promise<Journal> {
  const isShown = await show(context, journal, [])
  if (isShared(context.plane)) return await handOver(context, journal, {isShown})
  if (!isShown) return journal
  const shown = {...journal, isShown: true}
  return await lock(async () => {
    const found = await readJournal(context.plane)
    if (!found || !isSameAction(found, journal)) return journal
    await writeJournal(context.plane, shown)
    return shown
  })
}
