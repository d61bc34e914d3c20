import type {ApiObject} from '../../api/meta.ts'
import type {Resource} from '../kernel/resource.ts'
import {badRequest} from '../kernel/status.ts'
import {MOST_REQUIREMENTS} from './label-parser.ts'

interface FieldTerm {
  field: string
  value: string
  equal: boolean
}

/** A field selector, compiled for one resource. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[]
  /** It selects everything. */
  readonly empty: boolean
  readonly matches: (object: ApiObject) => boolean
}

type ReadField = (object: ApiObject) => string

/** What a field selector needs to know of a resource. */
export type SelectableResource = Pick<Resource, 'custom' | 'fieldAliases' | 'fields' | 'namespaced'>

const EVERYTHING: FieldSelector = {terms: [], empty: true, matches: () => true}

const METADATA_FIELDS: Record<string, ReadField> = {
  'metadata.name': ({metadata}) => metadata.name ?? '',
  'metadata.namespace': ({metadata}) => metadata.namespace ?? '',
}

function splitTerm(part: string, selector: string): FieldTerm {
  for (const operator of ['!=', '==', '=']) {
    const [field, value, ...rest] = part.split(operator)
    if (field !== undefined && value !== undefined && rest.length === 0) {
      return {field, value, equal: operator !== '!='}
    }
  }
  throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`)
}

/** As fields.ParseSelector: terms are sorted, empty ones skipped, an empty value is a value. */
function splitTerms(text: string): FieldTerm[] {
  const parts = text.split(',').filter((part) => part !== '')
  if (parts.length > MOST_REQUIREMENTS) {
    throw badRequest(`invalid selector: more than ${MOST_REQUIREMENTS} requirements`)
  }
  return parts.sort().map((part) => splitTerm(part, text))
}

const own = <T>(record: Record<string, T> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

/** For kinds with their own fields and custom resources the message names the wrong field; for others, the two valid ones. */
function unknownField(resource: SelectableResource, field: string) {
  return badRequest(
    resource.fields === undefined && resource.custom !== true
      ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  )
}

function readerOf(resource: SelectableResource, field: string): ReadField {
  const special = own(resource.fields, field)
  if (special !== undefined) return special
  // Cluster-scoped kinds with their own fields have no namespace field; Kubernetes' default conversion does.
  const offersNamespace = resource.namespaced || resource.fields === undefined
  const general = field === 'metadata.namespace' && !offersNamespace ? undefined : field
  const read = general === undefined ? undefined : own(METADATA_FIELDS, general)
  if (read === undefined) throw unknownField(resource, field)
  return read
}

/** Parses the fieldSelector parameter for a resource. Throws BadRequest as Kubernetes does, also for an unknown field. */
export function parseFieldSelector(text: string, resource: SelectableResource): FieldSelector {
  if (text === '') return EVERYTHING
  const terms = splitTerms(text).map((term) => ({
    ...term,
    field: own(resource.fieldAliases, term.field) ?? term.field,
  }))
  if (terms.length === 0) return EVERYTHING
  const tests = terms.map(({field, value, equal}) => {
    const read = readerOf(resource, field)
    return (object: ApiObject) => (read(object) === value) === equal
  })
  return {terms, empty: false, matches: (object) => tests.every((test) => test(object))}
}

/** Whether a fieldSelector parameter matches only this value of a field. False if the text is invalid. */
export function hasFieldTerm(fieldSelector: string, field: string, value: string): boolean {
  try {
    return splitTerms(fieldSelector).some(
      (term) => term.equal && term.field === field && term.value === value,
    )
  } catch {
    return false
  }
}

/**
 * The one name that a fieldSelector parameter asks for: such a list or watch is authorized as if it were for that name.
 * Undefined if there is none, if the text is wrong, or if no path could contain the name.
 */
export function nameOf(fieldSelector: string): string | undefined {
  for (const part of fieldSelector.split(',')) {
    const [, name] = /^metadata\.name==?([^=!]+)$/.exec(part) ?? []
    if (name !== undefined) return isPathSegment(name) ? name : undefined
  }
  return undefined
}

const isPathSegment = (name: string) => name !== '.' && name !== '..' && !/[/%]/.test(name)
