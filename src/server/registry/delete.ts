import type {ApiObject, Status} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import {forbiddenField, notSupported, type FieldError} from '../kernel/field-error.ts'
import type {Resource} from '../kernel/resource.ts'
import {conflict, invalid, MODIFIED, notFound} from '../kernel/status.ts'
import {dryRunErrors, integer} from './options.ts'
import {catchUp} from './freshness.ts'
import {parse, toStored, type StoredObject} from './stored-object.ts'
import {resultOf, type WriteServices, type WriteTarget} from './write.ts'
import {formatTimestamp} from '../../runtime.ts'

export interface DeleteOptions {
  gracePeriodSeconds?: number
  preconditions?: {uid?: string; resourceVersion?: string}
  orphanDependents?: boolean
  propagationPolicy?: string
  dryRun?: string[]
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil']
const TRIES = 32
/** A hundred years, in seconds. Clients cannot read times after the year 9999. */
const LONGEST_GRACE = 3_155_760_000

/** Options of the body, or of the query if the body has none. */
export function deleteOptions(body: DeleteOptions, query: URLSearchParams): DeleteOptions {
  const options: DeleteOptions = {...body}
  const seconds = integer(query, 'gracePeriodSeconds')
  if (options.gracePeriodSeconds === undefined && seconds !== undefined)
    options.gracePeriodSeconds = seconds
  const policy = query.get('propagationPolicy')
  if (options.propagationPolicy === undefined && policy !== null && policy !== '')
    options.propagationPolicy = policy
  const orphan = query.get('orphanDependents')
  if (options.orphanDependents === undefined && orphan !== null)
    options.orphanDependents = orphan !== 'false' && orphan !== '0'
  if ((options.dryRun ?? []).length === 0) options.dryRun = query.getAll('dryRun')
  const errors = optionErrors(options)
  if (errors.length > 0) throw invalid({group: 'meta.k8s.io', kind: 'DeleteOptions'}, '', errors)
  return options
}

function optionErrors(options: DeleteOptions): FieldError[] {
  const errors = dryRunErrors(options.dryRun ?? [])
  const policy = options.propagationPolicy
  if (policy !== undefined && options.orphanDependents !== undefined) {
    errors.push(
      forbiddenField(
        'propagationPolicy',
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (policy !== undefined && !POLICIES.slice(0, 3).includes(policy))
    errors.push(notSupported('propagationPolicy', policy, POLICIES))
  return errors
}

const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
/** What the garbage collector does not look at. */
const UNCOLLECTED = 'events'

/** The finalizer that the caller's choice about dependents needs, else the one that the object has. As Kubernetes decides. */
function collectorsFinalizer(
  finalizers: readonly string[],
  {orphanDependents, propagationPolicy}: DeleteOptions,
): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN : undefined
  if (propagationPolicy === 'Orphan') return ORPHAN
  if (propagationPolicy === 'Foreground') return FOREGROUND
  if (propagationPolicy === 'Background') return undefined
  return [ORPHAN, FOREGROUND].find((name) => finalizers.includes(name))
}

/** The finalizers of an object that is being deleted: the garbage collector removes its own when dependents are dealt with. */
function deletionFinalizers(
  {plural}: Resource,
  {metadata: {finalizers = []}}: ApiObject,
  options: DeleteOptions,
): string[] {
  if (plural === UNCOLLECTED) return finalizers
  const wanted = collectorsFinalizer(finalizers, options)
  const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND)
  return wanted === undefined ? others : [...others, wanted]
}

const isSameSet = (left: readonly string[], right: readonly string[]) =>
  left.length === right.length && left.every((name) => right.includes(name))

/** The object's text if it stays for now, a Status if it is deleted. */
export type DeleteResult = {lingers: true; json: string} | {lingers: false; stored: StoredObject}

/** Deletes an object, or marks it for deletion if finalizers or a grace period hold it. As Kubernetes' BeforeDelete. */
export async function remove(
  services: WriteServices,
  target: WriteTarget,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const {store, context} = target
  const {resource} = store
  for (let tries = 1; ; tries++) {
    const stored = store.get(context.namespace, context.name)
    if (stored === undefined) throw notFound(resource, context.name)
    const object = parse(stored)
    requirePreconditions(resource, object, options)
    await services.admit(
      {verb: 'delete', resource, subresource: '', name: context.name, old: object},
      context,
    )
    try {
      return await removeOnce(services, target, stored, options)
    } catch (error) {
      if (hasCode(error, 'NOT_FOUND')) throw notFound(resource, context.name)
      if (!hasCode(error, 'CONFLICT')) throw error
      if (tries >= TRIES) throw conflict(resource, context.name, MODIFIED)
      await catchUp(services.registry)
    }
  }
}

async function removeOnce(
  {registry}: WriteServices,
  {store, context, requireStillAllowed, hasWritten}: WriteTarget,
  stored: StoredObject,
  options: DeleteOptions,
): Promise<DeleteResult> {
  await requireStillAllowed()
  const {resource} = store
  const object = parse(stored)
  const key = store.storageKey(context.namespace, context.name)
  const grace = graceOf(resource, object, options)
  const finalizers = deletionFinalizers(resource, object, options)
  const sameFinalizers = isSameSet(finalizers, object.metadata.finalizers ?? [])
  const held = finalizers.length > 0 || resource.holdsDeletion?.(object) === true
  if (!held && grace === 0) {
    if (context.dryRun) return {lingers: false, stored}
    await registry.storage.delete(key, stored.revision)
    hasWritten()
    return {lingers: false, stored}
  }
  const begun = object.metadata.deletionTimestamp !== undefined
  const isShorter = !begun || (object.metadata.deletionGracePeriodSeconds ?? 0) > grace
  if (!isShorter && sameFinalizers) return {lingers: true, json: stored.json}
  if (!sameFinalizers) object.metadata.finalizers = finalizers
  if (isShorter) {
    const now = context.clock.now().getTime()
    object.metadata.deletionTimestamp = formatTimestamp(new Date(now + grace * 1000))
    object.metadata.deletionGracePeriodSeconds = grace
    resource.markDeleting?.(object)
  }
  const text = toStored(object)
  if (context.dryRun) return {lingers: true, json: resultOf(text, stored.revision).json}
  // No size limit here: an object that is too large must still be deletable.
  const entry = await registry.storage.update(key, Buffer.from(text), stored.revision)
  hasWritten()
  return {lingers: true, json: resultOf(text, entry.revision).json}
}

function graceOf(resource: Resource, object: ApiObject, options: DeleteOptions): number {
  if (resource.gracePeriodSeconds === undefined) return 0
  // Objects that need no grace period get none, whatever the caller asks for.
  const own = resource.gracePeriodSeconds(object)
  if (own === 0) return 0
  const asked = options.gracePeriodSeconds ?? own
  // A negative one counts as a second, as for Kubernetes' pods.
  return asked < 0 ? 1 : Math.min(asked, LONGEST_GRACE)
}

function requirePreconditions(resource: Resource, {metadata}: ApiObject, options: DeleteOptions) {
  const {uid, resourceVersion} = options.preconditions ?? {}
  const subject = {group: resource.group, plural: resource.kind}
  const name = metadata.name ?? ''
  const check = (what: string, wanted: string | undefined, actual = '') => {
    if (wanted === undefined || wanted === actual) return
    throw conflict(
      subject,
      name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${actual}). The object might have been ${what === 'UID' ? 'deleted and then recreated' : 'modified'}`,
    )
  }
  check('UID', uid, metadata.uid)
  check('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/** The response to a completed deletion. */
export function deletedStatus(resource: Resource, stored: StoredObject): Status {
  const {uid} = parse(stored).metadata
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: stored.name,
      ...(resource.group === '' ? {} : {group: resource.group}),
      kind: resource.plural,
      ...(uid === undefined ? {} : {uid}),
    },
  }
}
