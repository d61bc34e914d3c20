import type {Verb} from '../kernel/resource.ts'
import {
  DELETE_PARAMETERS,
  LIST_PARAMETERS,
  PATCH_PARAMETERS,
  WRITE_PARAMETERS,
} from './parameters.ts'
import type {Parameter} from './parameters.ts'

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
