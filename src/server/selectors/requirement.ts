import {fits} from '../validation/names.ts'

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!'

/** One term of a label selector. */
export interface Requirement {
  key: string
  operator: LabelOperator
  values: string[]
}

export type Labels = Readonly<Record<string, string>>

/** Whether a set of labels meets one term. A missing label meets `!=` and `notin`, as in Kubernetes. */
export type LabelTest = (labels: Labels) => boolean

const INTEGER = /^[+-]?\d{1,63}$/
const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value < MIN_INT64 || value > MAX_INT64 ? undefined : value
}

const invalid = (path: string, value: string, problems: string[]) =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`

/** Kubernetes' message for a key in a selector's text, where there is no field path to name. */
export function keyComplaint(key: string): string | undefined {
  const problems = labelKeyProblems(key)
  return problems.length === 0 ? undefined : invalid('<nil>', key, problems)
}

/** What is wrong with the values of a term, as one text; undefined if nothing is. */
export function valuesComplaint({key, operator, values}: Requirement): string | undefined {
  const complaints = values.flatMap((value, index) => {
    const path = `values[${index}]`
    const problems = labelValueProblems(value)
    return [
      ...((operator === 'gt' || operator === 'lt') && parseInt64(value) === undefined
        ? [invalid(path, value, ["for 'Gt', 'Lt' operators, the value must be an integer"])]
        : []),
      ...(problems.length === 0 ? [] : [invalid(`${path}[${key}]`, value, problems)]),
    ]
  })
  if (complaints.length === 0) return undefined
  return complaints.length === 1 ? complaints[0] : `[${complaints.join(', ')}]`
}

// A label may be called "constructor": only own properties are labels.
const has = (labels: Labels, key: string) => Object.hasOwn(labels, key)

function compared(key: string, limit: bigint | undefined, above: boolean): LabelTest {
  return (labels) => {
    const value = has(labels, key) ? parseInt64(labels[key] ?? '') : undefined
    if (value === undefined || limit === undefined) return false
    return above ? value > limit : value < limit
  }
}

export function compileRequirement({key, operator, values}: Requirement): LabelTest {
  const [first = ''] = values
  const set = new Set(values)
  switch (operator) {
    case 'exists':
      return (labels) => has(labels, key)
    case '!':
      return (labels) => !has(labels, key)
    case '=':
    case '==':
      return (labels) => has(labels, key) && labels[key] === first
    case '!=':
      return (labels) => !has(labels, key) || labels[key] !== first
    case 'in':
      return (labels) => has(labels, key) && set.has(labels[key] ?? '')
    case 'notin':
      return (labels) => !has(labels, key) || !set.has(labels[key] ?? '')
    case 'gt':
      return compared(key, parseInt64(first), true)
    case 'lt':
      return compared(key, parseInt64(first), false)
  }
}

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const NAME_PATTERN = new RegExp(`^${NAME}$`)
const VALUE_PATTERN = new RegExp(`^(${NAME})?$`)
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`)
const MAX_NAME = 63
const MAX_SUBDOMAIN = 253

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
  ` (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
  ` (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME})?')`
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
  ` (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`

const tooLong = (limit: number) => `must be no more than ${limit} bytes`

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return [
    ...(prefix.length > MAX_SUBDOMAIN ? [`prefix part ${tooLong(MAX_SUBDOMAIN)}`] : []),
    ...(fits(SUBDOMAIN_PATTERN, prefix) ? [] : [`prefix part ${SUBDOMAIN_RULE}`]),
  ]
}

function nameProblems(name: string): string[] {
  return [
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > MAX_NAME ? [`name part ${tooLong(MAX_NAME)}`] : []),
    ...(fits(NAME_PATTERN, name) ? [] : [`name part ${NAME_RULE}`]),
  ]
}

/** What is wrong with a label's key, in the words of Kubernetes' IsLabelKey; empty if it is fine. */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split('/')
  if (parts.length > 2) {
    return [
      `a valid label key ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.pop() ?? ''
  return [...parts.flatMap(prefixProblems), ...nameProblems(name)]
}

/** What is wrong with a label's value, in the words of Kubernetes' IsLabelValue; empty if it is fine. */
export function labelValueProblems(value: string): string[] {
  return [
    ...(value.length > MAX_NAME ? [tooLong(MAX_NAME)] : []),
    ...(fits(VALUE_PATTERN, value) ? [] : [VALUE_RULE]),
  ]
}
