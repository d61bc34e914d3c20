import type {Verb} from '../kernel/resource.ts'

/** A parameter of an operation, before either version of OpenAPI writes it. */
export interface Parameter {
  name: string
  in: 'path' | 'query'
  type: 'boolean' | 'integer' | 'string'
  description: string
}

const query = (
  name: string,
  description: string,
  type: Parameter['type'] = 'string',
): Parameter => ({name, in: 'query', type, description})

export const NAME_PARAMETER: Parameter = {
  name: 'name',
  in: 'path',
  type: 'string',
  description: 'The name of the object',
}

export const NAMESPACE_PARAMETER: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'The namespace of the objects',
}

export const PRETTY = query('pretty', 'Whether to indent the answer')

const DRY_RUN = query('dryRun', 'All: everything is checked and nothing is stored')

/** kubectl looks for dryRun and fieldValidation before it relies on them. */
const WRITE_PARAMETERS: Parameter[] = [
  DRY_RUN,
  query('fieldManager', 'The name under which the fields that are written are owned'),
  query('fieldValidation', 'What to do about unknown and duplicate fields: Ignore, Warn or Strict'),
]

const PATCH_PARAMETERS: Parameter[] = [
  ...WRITE_PARAMETERS,
  query('force', 'Takes fields over from other managers; for apply only', 'boolean'),
]

const DELETE_PARAMETERS: Parameter[] = [
  DRY_RUN,
  query('gracePeriodSeconds', 'How long the object may take to go away', 'integer'),
  query('orphanDependents', 'Old form of propagationPolicy', 'boolean'),
  query('propagationPolicy', 'What becomes of dependents: Orphan, Background or Foreground'),
]

const LIST_PARAMETERS: Parameter[] = [
  query('allowWatchBookmarks', 'Whether a watch may send bookmarks', 'boolean'),
  query('continue', 'Where to go on, from the page before'),
  query('fieldSelector', 'Selects objects by their fields'),
  query('labelSelector', 'Selects objects by their labels'),
  query('limit', 'The most objects on a page', 'integer'),
  query('resourceVersion', 'The version to read at, or to watch from'),
  query('resourceVersionMatch', 'How resourceVersion is meant: Exact or NotOlderThan'),
  query('sendInitialEvents', 'Whether a watch starts with what is there', 'boolean'),
  query('timeoutSeconds', 'How long a list or a watch may last', 'integer'),
  query('watch', 'Whether to watch instead of to list', 'boolean'),
]

export type Method = 'delete' | 'get' | 'patch' | 'post' | 'put'

/** A watch is a list with a parameter, not an operation of its own. */
export type ObjectVerb = Exclude<Verb, 'watch'>

/** What all operations of one verb have in common. */
export interface OperationShape {
  method: Method
  action: string
  /** What the operation's id begins with. */
  word: string
  parameters: Parameter[]
  codes: number[]
  body?: 'kind' | 'options' | 'patch'
}

export const SHAPES: Record<ObjectVerb, OperationShape> = {
  list: {method: 'get', action: 'list', word: 'list', parameters: LIST_PARAMETERS, codes: []},
  create: {
    method: 'post',
    action: 'post',
    word: 'create',
    parameters: WRITE_PARAMETERS,
    codes: [201, 202],
    body: 'kind',
  },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    word: 'delete',
    parameters: [...LIST_PARAMETERS, ...DELETE_PARAMETERS],
    codes: [],
    body: 'options',
  },
  get: {method: 'get', action: 'get', word: 'read', parameters: [], codes: []},
  update: {
    method: 'put',
    action: 'put',
    word: 'replace',
    parameters: WRITE_PARAMETERS,
    codes: [201],
    body: 'kind',
  },
  patch: {
    method: 'patch',
    action: 'patch',
    word: 'patch',
    parameters: PATCH_PARAMETERS,
    codes: [201],
    body: 'patch',
  },
  delete: {
    method: 'delete',
    action: 'delete',
    word: 'delete',
    parameters: DELETE_PARAMETERS,
    codes: [202],
    body: 'options',
  },
}
