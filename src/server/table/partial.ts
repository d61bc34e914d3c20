import type {ApiList, ApiObject, ListMeta, ObjectMeta} from '../../api/meta.ts'
import {StatusError} from '../kernel/status.ts'
import type {MetaVersion} from './negotiate.ts'

export interface PartialObject {
  kind: 'PartialObjectMetadata'
  apiVersion: string
  metadata: ObjectMeta
}

export interface PartialList {
  kind: 'PartialObjectMetadataList'
  apiVersion: string
  metadata: ListMeta
  items: PartialObject[]
}

const notAcceptable = (message: string) => new StatusError(406, 'NotAcceptable', message)

/** An object's metadata alone. */
export const partialObject = (object: ApiObject, version: MetaVersion): PartialObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
})

/** The metadata of a list's items; unlike the items of other lists they carry kind and apiVersion. */
export const partialList = (
  {metadata, items}: Pick<ApiList, 'items' | 'metadata'>,
  version: MetaVersion,
): PartialList => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
  items: items.map((item) => partialObject(item, version)),
})

/** Refuses the list form for one object and the other way round, as Kubernetes does. */
export function requirePartialFits(askedForList: boolean, isList: boolean): void {
  if (askedForList === isList) return
  throw notAcceptable(
    isList
      ? 'you requested PartialObjectMetadata, but the requested object is a list'
      : 'you requested PartialObjectMetadataList, but the requested object is not a list',
  )
}
