import {openApiName} from '../../api/schema/index.ts'
import {sortedSubresources} from '../discovery/served.ts'
import type {ServedResource} from '../discovery/served.ts'
import type {Subresource, Verb} from '../kernel/resource.ts'
import {
  type Definitions,
  definitionsOf,
  type GroupVersionKind,
  listDefinition,
  listName,
  PATCH_DEFINITION,
  PATCH_NAME,
  sortedDefinitions,
} from './definitions.ts'
import type {Dialect} from './dialect.ts'
import {
  type Method,
  NAME_PARAMETER,
  NAMESPACE_PARAMETER,
  type ObjectVerb,
  type OperationShape,
  type Parameter,
  PRETTY,
  SHAPES,
} from './operation-shapes.ts'

/** One operation on one path, before either version of OpenAPI writes it. */
export interface Operation {
  path: string
  method: Method
  id: string
  tag: string
  description: string
  action: string
  gvk: GroupVersionKind
  parameters: Parameter[]
  /** Names of definitions. */
  body?: {definition: string; contentTypes: string[]; required: boolean}
  answer: string
  /** 200 is among the codes of every operation. */
  codes: number[]
}

const COLLECTION_VERBS = ['list', 'create', 'deletecollection'] as const
const OBJECT_VERBS = ['get', 'update', 'patch', 'delete'] as const
const SUBRESOURCE_VERBS = ['get', 'create', 'update', 'patch', 'delete'] as const

const APPLY_PATCH = 'application/apply-patch+yaml'
const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'

const STATUS = openApiName('meta/v1.Status')
const DELETE_OPTIONS = openApiName('meta/v1.DeleteOptions')

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** `rbac.authorization.k8s.io` is rbacAuthorization in the names of operations and tags. */
function groupWord(group: string): string {
  const [first = 'core', ...rest] = (group || 'core').replace(/\.k8s\.io$/, '').split('.')
  return first + rest.map(capitalized).join('')
}

interface Place {
  served: ServedResource
  path: string
  parameters: Parameter[]
  /** Behind the verb in the operation's id. */
  noun: string
  gvk: GroupVersionKind
  type: string
}

/** kubectl chooses between strategic merge and merge by what is offered here. */
function patchTypes({served: {resource}}: Place): string[] {
  return [JSON_PATCH, MERGE_PATCH, ...(resource.custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH]
}

function bodyOf(place: Place, {body}: OperationShape): Pick<Operation, 'body'> {
  if (body === undefined) return {}
  const bodies: Record<typeof body, NonNullable<Operation['body']>> = {
    kind: {definition: openApiName(place.type), contentTypes: ['*/*'], required: true},
    options: {definition: DELETE_OPTIONS, contentTypes: ['*/*'], required: false},
    patch: {definition: PATCH_NAME, contentTypes: patchTypes(place), required: true},
  }
  return {body: bodies[body]}
}

function answerOf({type}: Place, verb: ObjectVerb): string {
  if (verb === 'list') return listName(type)
  return verb === 'delete' || verb === 'deletecollection' ? STATUS : openApiName(type)
}

function operation(place: Place, verb: ObjectVerb): Operation {
  const {served, path, parameters, noun, gvk} = place
  const shape = SHAPES[verb]
  const prefix = `${groupWord(served.group)}_${served.version}`
  const idPrefix = capitalized(groupWord(served.group)) + capitalized(served.version)
  const collection = verb === 'deletecollection' ? 'Collection' : ''
  return {
    path,
    method: shape.method,
    id: `${shape.word}${idPrefix}${collection}${noun}`,
    tag: prefix,
    description: `${shape.word} ${verb === 'list' || collection !== '' ? 'objects' : 'an object'} of kind ${gvk.kind}`,
    action: shape.action,
    gvk,
    parameters: [...parameters, PRETTY, ...shape.parameters],
    ...bodyOf(place, shape),
    answer: answerOf(place, verb),
    codes: [200, ...shape.codes],
  }
}

const operations = (
  place: Place,
  offered: readonly Verb[],
  verbs: readonly ObjectVerb[],
): Operation[] =>
  verbs.filter((verb) => offered.includes(verb)).map((verb) => operation(place, verb))

function subresourceOperations(place: Place, name: string, subresource: Subresource): Operation[] {
  const {kind: own} = subresource
  const foreign: Partial<Place> =
    own === undefined
      ? {}
      : {gvk: {group: own.group, version: own.version, kind: own.kind}, type: own.type}
  const words = name.split('-').map(capitalized).join('')
  return operations(
    {...place, ...foreign, path: `${place.path}/${name}`, noun: `${place.noun}${words}`},
    subresource.verbs,
    SUBRESOURCE_VERBS,
  )
}

/** Every operation on a resource and its subresources. */
export function operationsOf(served: ServedResource): Operation[] {
  const {group, version, type, resource} = served
  const {plural, kind, namespaced, verbs} = resource
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const scope = namespaced ? [NAMESPACE_PARAMETER] : []
  const collection: Place = {
    served,
    path: `${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`,
    parameters: scope,
    noun: `${namespaced ? 'Namespaced' : ''}${kind}`,
    gvk: {group, version, kind},
    type,
  }
  const everywhere: Place = {
    ...collection,
    path: `${root}/${plural}`,
    parameters: [],
    noun: `${kind}ForAllNamespaces`,
  }
  const object: Place = {
    ...collection,
    path: `${collection.path}/{name}`,
    parameters: [NAME_PARAMETER, ...scope],
  }
  return [
    ...operations(collection, verbs, COLLECTION_VERBS),
    ...(namespaced ? operations(everywhere, verbs, ['list']) : []),
    ...operations(object, verbs, OBJECT_VERBS),
    ...sortedSubresources(resource).flatMap(([name, subresource]) =>
      subresourceOperations(object, name, subresource),
    ),
  ]
}

/** The types that operations on some resources speak of. */
function typesOf(resources: readonly ServedResource[]): Set<string> {
  return new Set([
    'meta/v1.DeleteOptions',
    'meta/v1.ListMeta',
    'meta/v1.Status',
    ...resources.flatMap(({type, resource}) => [
      type,
      ...sortedSubresources(resource).flatMap(([, {kind}]) => (kind ? [kind.type] : [])),
    ]),
  ])
}

/** Every definition that a document about some resources refers to. */
export function componentsOf(resources: readonly ServedResource[], dialect: Dialect): Definitions {
  const listed = resources.filter(({resource}) => resource.verbs.includes('list'))
  return sortedDefinitions({
    ...definitionsOf(typesOf(resources), dialect),
    ...Object.fromEntries(listed.map(({type}) => [listName(type), listDefinition(type, dialect)])),
    [PATCH_NAME]: PATCH_DEFINITION,
  })
}
