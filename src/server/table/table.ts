import type {ApiList, ApiObject, ListMeta, ObjectMeta} from '../../api/meta.ts'
import {type Column, groupVersion, type Resource} from '../kernel/resource.ts'
import {badRequest, StatusError} from '../kernel/status.ts'
import type {MetaVersion, PartialRepresentation} from './negotiate.ts'

interface PartialObject {
  kind: 'PartialObjectMetadata'
  apiVersion: string
  metadata: ObjectMeta
}

/** What a list holds: a client that prefers protobuf gets neither kind nor apiVersion. */
type PartialItem = PartialObject | Pick<PartialObject, 'metadata'>

interface PartialList {
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

interface ColumnDefinition {
  name: string
  type: string
  format: string
  description: string
  priority: number
}

interface TableRow {
  cells: (string | number | boolean | null)[]
  object: unknown
}

interface Table {
  kind: 'Table'
  apiVersion: string
  metadata: ListMeta
  columnDefinitions: ColumnDefinition[] | null
  rows: TableRow[]
}

/** How much of the object a row contains, by the includeObject parameter. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  version: MetaVersion
  include: IncludeObject
  now: Date
  /** The served version of the objects, if it is not the resource's first. */
  objectVersion?: string
}

/** What a table needs to know of a resource. */
type TableResource = Pick<Resource, 'columns' | 'group' | 'kind' | 'version'>

const ZERO_TIME = '0001-01-01T00:00:00Z'

/** The columns of a kind that has none of its own: Kubernetes' default table convertor. */
const DEFAULT_COLUMNS: Column[] = [
  {
    name: 'Name',
    format: 'name',
    description: 'The name, unique among the objects of its kind within a namespace',
    value: ({metadata}) => metadata.name ?? '',
  },
  {
    name: 'Created At',
    type: 'date',
    description: 'When the server created the object, in UTC',
    value: ({metadata}) => metadata.creationTimestamp ?? ZERO_TIME,
  },
]

/** Reads the includeObject parameter. */
export function includeObjectOf(parameter: string | null): IncludeObject {
  switch (parameter) {
    case null:
    case '':
      return 'Metadata'
    case 'None':
    case 'Metadata':
    case 'Object':
      return parameter
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(parameter)}: must be 'Metadata', 'Object', 'None', or empty`,
      )
  }
}

const definitions = new WeakMap<Column[], ColumnDefinition[]>()

/** The columnDefinitions of a resource; made once for each. */
function columnDefinitions({columns = DEFAULT_COLUMNS}: TableResource): ColumnDefinition[] {
  const known = definitions.get(columns)
  if (known !== undefined) return known
  const made = columns.map(({name, type = 'string', format = '', description, priority = 0}) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
  definitions.set(columns, made)
  return made
}

function rowObject(resource: TableResource, object: ApiObject, options: TableOptions): unknown {
  switch (options.include) {
    case 'None':
      return null
    case 'Metadata':
      return partialObject(object, options.version)
    case 'Object':
      return {
        kind: resource.kind,
        apiVersion: groupVersion({
          group: resource.group,
          version: options.objectVersion ?? resource.version,
        }),
        ...object,
      }
  }
}

/** An object as one row. */
export function tableRow(
  resource: TableResource,
  object: ApiObject,
  options: TableOptions,
): TableRow {
  const {columns = DEFAULT_COLUMNS} = resource
  return {
    cells: columns.map(({value}) => value(object, options.now)),
    object: rowObject(resource, object, options),
  }
}

const table = (
  options: TableOptions,
  metadata: ListMeta,
  columns: ColumnDefinition[] | null,
  rows: TableRow[],
): Table => ({
  kind: 'Table',
  apiVersion: `meta.k8s.io/${options.version}`,
  metadata,
  columnDefinitions: columns,
  rows,
})

const versionOf = ({metadata: {resourceVersion}}: ApiObject): ListMeta =>
  resourceVersion === undefined ? {} : {resourceVersion}

/** A list as a Table. */
export const tableOfList = (
  resource: TableResource,
  {metadata, items}: Pick<ApiList, 'items' | 'metadata'>,
  options: TableOptions,
): Table =>
  table(
    options,
    metadata,
    columnDefinitions(resource),
    items.map((item) => tableRow(resource, item, options)),
  )

/** One object as a Table with one row. */
export const tableOfObject = (
  resource: TableResource,
  object: ApiObject,
  options: TableOptions,
): Table =>
  table(options, versionOf(object), columnDefinitions(resource), [
    tableRow(resource, object, options),
  ])

/** The object of a watch event, bookmarks included: only the first event of a stream carries the columns. */
export const tableOfEvent = (
  resource: TableResource,
  object: ApiObject,
  first: boolean,
  options: TableOptions,
): Table =>
  table(options, versionOf(object), first ? columnDefinitions(resource) : null, [
    tableRow(resource, object, options),
  ])
