import {randomInt, randomUUID} from 'node:crypto'
import type {ApiObject, ManagedFieldsEntry} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import type {Entry} from '../../storage/storage.ts'
import type {AdmissionOperation} from '../kernel/admission.ts'
import {groupVersion, type OperationContext, type Resource} from '../kernel/resource.ts'
import {alreadyExists, invalid, StatusError} from '../kernel/status.ts'
import {trackUpdate} from '../managed-fields/track-update.ts'
import type {StructShape} from '../patch/shape.ts'
import {validateFinalizerDomains, validateObjectMeta} from '../validation/metadata.ts'
import {requireFirst} from './allocation-check.ts'
import {allocationTurn} from './allocation-turn.ts'
import {dropSystemMetadata} from './system-metadata.ts'
import {takeBack} from './take-back.ts'
import {
  countGeneration,
  requireSameNamespace,
  resultOf,
  setManagedFields,
  storableBytes,
  trackingOf,
  type WriteResult,
  type WriteServices,
  type WriteTarget,
} from './write.ts'
import {toStored} from './stored-object.ts'
import {formatTimestamp} from '../../runtime.ts'

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MAX_GENERATED_BASE = 58
const NAME_TRIES = 8

/** As Kubernetes' names.SimpleNameGenerator. */
function generateName(base: string): string {
  let suffix = ''
  for (let count = 0; count < SUFFIX_LENGTH; count++)
    suffix += SUFFIX_ALPHABET.charAt(randomInt(SUFFIX_ALPHABET.length))
  return base.slice(0, MAX_GENERATED_BASE) + suffix
}

/** Creates an object. It is changed in place. `tracked` are its field owners if an apply has already determined them. */
export async function create(
  services: WriteServices,
  target: WriteTarget,
  object: ApiObject,
  tracked?: ManagedFieldsEntry[],
): Promise<WriteResult> {
  const endTurn = await allocationTurn(services, target)
  try {
    return await createInTurn(services, target, object, tracked)
  } finally {
    endTurn()
  }
}

async function createInTurn(
  services: WriteServices,
  target: WriteTarget,
  object: ApiObject,
  tracked: ManagedFieldsEntry[] | undefined,
): Promise<WriteResult> {
  const {resource} = target.store
  requireSameNamespace(object, target.context.namespace)
  const {context} = target
  resource.strategy.defaults?.(object)
  dropSystemMetadata(object)
  const managedFields =
    tracked ?? trackUpdate({...trackingOf(target), updated: ownable(target, object)})
  const operation = {verb: 'create', resource, subresource: '', object} as const
  const nameNow = () => object.metadata.name ?? ''
  await services.admit({...operation, name: nameNow()}, context)
  await resource.strategy.examine?.(object)
  const generated = nameNow() === '' && (object.metadata.generateName ?? '') !== ''
  for (let tries = 1; ; tries++) {
    const base = object.metadata.generateName ?? ''
    if (generated) object.metadata.name = generateName(base)
    prepare(target, object)
    setManagedFields(object, managedFields)
    await services.validate({...operation, name: nameNow()}, context)
    try {
      return await store(services, target, {...operation, name: nameNow()})
    } catch (error) {
      if (!generated || tries >= NAME_TRIES || !isAlreadyThere(error)) throw error
    }
  }
}

/** What somebody may own of a new object: there is no need to compare the rest with nothing. */
const ownable = ({store: {resource}}: WriteTarget, object: ApiObject): ApiObject =>
  resource.specIsNeverOwned === true ? {metadata: object.metadata} : object

export const isAlreadyThere = (error: unknown) =>
  error instanceof StatusError && error.status.reason === 'AlreadyExists'

/** A revision of the store; anything that is not a number is ignored, as in Kubernetes. */
const VERSION = /^\d{1,20}$/
const MOST_VERSION = 2n ** 64n

/** Only a POST means that the object is new: an apply or a PUT may find that it was deleted. */
export function refuseResourceVersion(object: ApiObject): void {
  const given = object.metadata.resourceVersion ?? ''
  if (VERSION.test(given) && Number(given) !== 0 && BigInt(given) < MOST_VERSION)
    throw new StatusError(
      500,
      undefined,
      'resourceVersion should not be set on objects to be created',
    )
}

function prepare({store: {resource}, context}: WriteTarget, object: ApiObject): void {
  object.metadata.uid = randomUUID()
  object.metadata.creationTimestamp = formatTimestamp(context.clock.now())
  resource.strategy.prepareForCreate?.(object, context)
  countGeneration(resource, object)
  const errors = [
    ...validateObjectMeta(resource, object),
    ...(resource.custom === true ? [] : validateFinalizerDomains(object)),
    ...(resource.strategy.validate?.(object, context) ?? []),
    ...(resource.strategy.validateCreate?.(object, context) ?? []),
  ]
  if (errors.length > 0) throw invalid(resource, object.metadata.name ?? '', errors)
}

async function store(
  services: WriteServices,
  target: WriteTarget,
  operation: AdmissionOperation & {object: ApiObject},
): Promise<WriteResult> {
  const {registry, quota} = services
  const {store: memory, context} = target
  const {resource} = memory
  const {object, name} = operation
  const text = toStored(object)
  const bytes = storableBytes(resource, text)
  await target.requireStillAllowed()
  quota?.require(target, bytes.length)
  if (context.dryRun) {
    if (memory.get(context.namespace, name) !== undefined) throw alreadyExists(resource, name)
    return {json: text, created: true}
  }
  try {
    const key = memory.storageKey(context.namespace, name)
    const entry = await registry.storage.create(key, bytes)
    target.hasWritten()
    await requireFirst(services, target, {object, key, revision: entry.revision})
    await confirm(services, context, operation, entry)
    return resultOf(text, entry.revision, true)
  } catch (error) {
    if (hasCode(error, 'ALREADY_EXISTS')) throw alreadyExists(resource, name)
    throw error
  }
}

/** Deletes a new object again if it exceeds a limit together with others that were created at the same time. */
async function confirm(
  services: WriteServices,
  context: OperationContext,
  operation: AdmissionOperation,
  entry: Entry,
): Promise<void> {
  try {
    await services.confirm(operation, context)
  } catch (error) {
    if (await takeBack(services.registry, entry)) throw error
  }
}

/** A review's response, with managedFields for the request's fields, as on a real server. */
export async function reviewed(
  resource: Resource,
  object: ApiObject,
  context: OperationContext,
  {shape, manager, apiVersion}: {shape: StructShape; manager: string; apiVersion: string},
): Promise<ApiObject> {
  const managedFields = trackUpdate({
    shape,
    manager,
    apiVersion,
    now: context.clock.now(),
    updated: object,
  })
  const answer = (await resource.review?.(object, context)) ?? object
  setManagedFields(answer, managedFields)
  return {
    kind: resource.kind,
    apiVersion: groupVersion({group: resource.group, version: context.version}),
    ...answer,
  }
}
