import {isDeepStrictEqual} from 'node:util'
import {stringify} from 'yaml'
import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {lastRotationOf, type LastRotation} from '../last-rotation.ts'
import {stepsOf} from './advance.ts'
import type {Dependent} from './dependent.ts'
import type {Action, Journal, Override, UnitRecord} from './journal.ts'

/** Where the state of the rotation is shown, and where annotations trigger it. */
export const ROTATION_MAP = {namespace: 'kube-system', name: 'trustadm-ca-rotation'}
export const OPERATION = 'trustadm.io/operation'
/** What the operation goes on without, as `--ignore` takes it. */
export const IGNORE = 'trustadm.io/operation-ignore'
/** Why the last annotation was refused. */
const REFUSED = 'trustadm.io/operation-refused'

interface StepStatus {
  id: string
  summary: string
  state: 'done' | 'running' | 'waiting'
  /** Who is waited for. */
  waitingFor: string[]
}

/** The state of a rotation, as programs read it. */
export interface RotationStatus {
  credentials: {
    rotation: {
      certificateAuthorities?: LastRotation
    }
  }
  action?: Action
  steps: StepStatus[]
  authorities: UnitRecord[]
}

const MOST_NAMES = 100

/** What a journal means, and who is waited for at its current step. */
export function statusOf(
  journal: Journal | undefined,
  waiting: readonly Pick<Dependent, 'name'>[] = [],
): RotationStatus {
  if (!journal) return {credentials: {rotation: {}}, steps: [], authorities: []}
  const {phase, action, running, done, units} = journal
  const isOver = phase !== 'Prepare' && phase !== 'Finalize'
  const names = [...new Set(waiting.map(({name}) => name))].slice(0, MOST_NAMES)
  return {
    credentials: {
      rotation: {
        certificateAuthorities: lastRotationOf(journal),
      },
    },
    ...(!isOver && {action}),
    steps: isOver
      ? []
      : stepsOf(journal).map(({id, summary}) => ({
          id,
          summary,
          state: done.includes(id) ? 'done' : id === running ? 'running' : 'waiting',
          waitingFor: id === running ? names : [],
        })),
    authorities: isOver ? [] : units,
  }
}

/**
 * The same when it was just seen who is waited for. Nodes that have all followed a start need no command that notes it, and one that
 * registers later may have to follow again.
 */
export function seenStatusOf(
  journal: Journal,
  waiting: readonly Pick<Dependent, 'name'>[],
): RotationStatus {
  const last = stepsOf(journal).find(({work}) => work.kind === 'dependents')?.id
  if (journal.action !== 'start' || last === undefined) return statusOf(journal, waiting)
  const others = journal.done.filter((id) => id !== last)
  return waiting.length > 0
    ? statusOf({...journal, done: others, running: last}, waiting)
    : statusOf({...journal, done: [...others, last]})
}

/** Where it is recorded who went on although somebody would be locked out. Its name is in the audit log. */
const OVERRIDES_MAP = {namespace: 'kube-system', name: 'trustadm-ca-rotation-overrides'}

/** Records overrides in the API, so that the audit log has them too. */
export async function publishOverrides(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  overrides: readonly Override[],
): Promise<void> {
  const data = {overrides: stringify(overrides, {lineWidth: 0})}
  const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: OVERRIDES_MAP, data}
  await configMaps.apply(map, {fieldManager: MANAGER, force: true})
}

const MANAGER = 'trustadm-ca-rotate'
const ATTEMPTS = 5

export interface PublishOptions {
  /** Whether to take off the annotation that triggered it. */
  isTriggered?: boolean
  /** Why an annotation was refused. */
  refusal?: string
}

/** Shows the state in the ConfigMap. */
export async function publishStatus(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  status: RotationStatus,
  {isTriggered = false, refusal}: PublishOptions = {},
): Promise<void> {
  const data = {status: stringify(status, {lineWidth: 0})}
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await configMaps.find(ROTATION_MAP)
      const {
        [OPERATION]: asked,
        [IGNORE]: ignored,
        [REFUSED]: _refused,
        ...others
      } = found?.metadata.annotations ?? {}
      const annotations = {
        ...others,
        ...(asked !== undefined && !isTriggered && {[OPERATION]: asked}),
        ...(ignored !== undefined && !isTriggered && {[IGNORE]: ignored}),
        ...(refusal !== undefined && {[REFUSED]: refusal}),
      }
      const isSame = isDeepStrictEqual(found?.metadata.annotations ?? {}, annotations)
      if (isSame && found?.data?.status === data.status) return
      const metadata = {...(found?.metadata ?? ROTATION_MAP), annotations}
      const wanted: ConfigMap = {...found, metadata, data}
      if (found) await configMaps.update(wanted, {fieldManager: MANAGER})
      else await configMaps.create(wanted, {fieldManager: MANAGER})
      return
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}
