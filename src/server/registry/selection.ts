import type {Resource} from '../kernel/resource.ts'
import {badRequest} from '../kernel/status.ts'
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
  /** Only the object itself shows whether it is selected, not its key. */
  needsContent: boolean
  matches: (stored: StoredObject) => boolean
}

const KEY_FIELDS: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace'])

interface SelectionRequest {
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
    needsContent: !labels.empty || fields.terms.some(({field}) => !KEY_FIELDS.has(field)),
    matches: (stored) =>
      (namespace === '' || stored.namespace === namespace) &&
      (named === undefined || stored.name === named) &&
      (labels.empty || labels.matches(stored.labels)) &&
      fields.terms.every(({field, value, equal}) => (valueOf(stored, field) === value) === equal),
  }
}

/** Where a paged list continues: after this key, in the state of this revision. */
interface ContinueToken {
  revision: number
  /** The last key of the page before. */
  after: string
}

/** Instead of a revision: continues in the current state, because the list's own state is no longer available. */
export const NEWEST = -1

const VERSION = 'meta.k8s.io/v1'

export const encodeContinue = ({revision, after}: ContinueToken) =>
  Buffer.from(JSON.stringify({v: VERSION, rv: revision, start: `${after}\u0000`})).toString(
    'base64url',
  )

/** `explain` describes a JSON syntax error as Go would. */
export function decodeContinue(token: string, explain: (text: Buffer) => string): ContinueToken {
  const bad = token.search(/[^A-Za-z0-9_-]/)
  if (bad !== -1) throw broken(`illegal base64 data at input byte ${bad}`)
  const bytes = Buffer.from(token, 'base64url')
  let parsed: {v?: unknown; rv?: unknown; start?: unknown}
  try {
    parsed = JSON.parse(bytes.toString()) as typeof parsed
  } catch {
    throw broken(explain(bytes))
  }
  const {v, rv, start} = parsed ?? {}
  if (v !== VERSION) throw broken('server does not recognize this encoded version')
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw broken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start !== 'string' || start === '')
    throw broken('encoded start key empty (version meta.k8s.io/v1)')
  return {
    revision: rv < 0 ? NEWEST : rv,
    after: start.endsWith('\u0000') ? start.slice(0, -1) : start,
  }
}

const broken = (why: string) =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`)
