import type {ApiObject} from '../../api/meta.ts'
import {trackUpdate} from '../managed-fields/track-update.ts'
import type {StructShape} from '../patch/shape.ts'
import {groupVersion, type OperationContext, type Resource} from '../kernel/resource.ts'
import {setManagedFields} from './write.ts'

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
