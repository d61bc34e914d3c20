import type {Resource} from '../kernel/resource.ts'
import {parseFieldSelector} from '../selectors/field-selector.ts'
import {parseLabelSelector} from '../selectors/label-selector.ts'
import type {StoredObject} from './stored-object.ts'

/** Which objects a list or a watch covers: those in a namespace that both selectors match. */
export interface Selection {
  /** Empty: all namespaces. */
  namespace: string
  /** The name, if the field selector names one object. */
  name: string | undefined
  /** No selector narrows it. */
  everything: boolean
  matches: (stored: StoredObject) => boolean
}

export interface SelectionRequest {
  query: URLSearchParams
  namespace: string
  /** The name in the path, as in the old watch paths. */
  named: string | undefined
}

export function selectionOf(
  resource: Resource,
  {query, namespace, named}: SelectionRequest,
): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '')
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource)
  const exact = fields.terms.find(({field, equal}) => field === 'metadata.name' && equal)
  const valueOf = (stored: StoredObject, field: string) => {
    if (field === 'metadata.name') return stored.name
    if (field === 'metadata.namespace') return stored.namespace
    return stored.fields[resource.fieldAliases?.[field] ?? field] ?? ''
  }
  return {
    namespace,
    name: named ?? exact?.value,
    everything: labels.empty && fields.empty && named === undefined,
    matches: (stored) =>
      (namespace === '' || stored.namespace === namespace) &&
      (named === undefined || stored.name === named) &&
      (labels.empty || labels.matches(stored.labels)) &&
      fields.terms.every(({field, value, equal}) => (valueOf(stored, field) === value) === equal),
  }
}
