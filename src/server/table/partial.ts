import type {ApiList, ApiObject, ListMeta, ObjectMeta} from '../../api/meta.ts'
import {StatusError} from '../kernel/status.ts'
import type {MetaVersion, PartialRepresentation} from './negotiate.ts'

export interface PartialObject {
  kind: 'PartialObjectMetadata'
  apiVersion: string
  metadata: ObjectMeta
}

/** What a list holds: a client that prefers protobuf gets neither kind nor apiVersion. */
type PartialItem = PartialObject | Pick<PartialObject, 'metadata'>

export interface PartialList {
  kind: 'PartialObjectMetadataList'
  apiVersion: string
  metadata: ListMeta
  items: PartialItem[]
}

const notAcceptable = (message: string) => new StatusError(406, 'NotAcceptable', message)

/** An object's metadata alone. */
export const partialObject = (object: ApiObject, version: MetaVersion): PartialObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
})

/** How the items of a list are sent. */
type ItemForm = Pick<PartialRepresentation, 'bareItems' | 'version'>

/** An item of a list; unlike the items of other lists it carries kind and apiVersion, except for clients of protobuf. */
export const partialItem = (object: ApiObject, {version, bareItems}: ItemForm): PartialItem =>
  bareItems ? {metadata: object.metadata} : partialObject(object, version)

/** The metadata of a list's items. */
export const partialList = (
  {metadata, items}: Pick<ApiList, 'items' | 'metadata'>,
  form: ItemForm,
): PartialList => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: `meta.k8s.io/${form.version}`,
  metadata,
  items: items.map((item) => partialItem(item, form)),
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
