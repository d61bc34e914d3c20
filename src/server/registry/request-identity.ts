import type {ApiObject} from '../../api/meta.ts'
import {badRequest} from '../kernel/status.ts'

/** The object's name must be that of the request's path. As Kubernetes' checkName. */
export function requireSameName(object: ApiObject, name: string): void {
  const given = object.metadata.name ?? ''
  if (given === '')
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  if (given !== name)
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    )
}

/**
 * The object's namespace must be that of the request's path. A missing one is filled in; if the path has none, it is
 * removed. As Kubernetes' EnsureObjectNamespaceMatchesRequestNamespace.
 */
export function requireSameNamespace(object: ApiObject, namespace: string): void {
  const given = object.metadata.namespace ?? ''
  if (namespace === '') delete object.metadata.namespace
  else if (given === '') object.metadata.namespace = namespace
  else if (given !== namespace)
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
}
