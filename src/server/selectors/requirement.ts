import {labelValue, qualifiedName} from '../validation/names.ts'

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
  const problems = qualifiedName(key)
  return problems.length === 0 ? undefined : invalid('<nil>', key, problems)
}

/** What is wrong with the values of a term, as one text; undefined if nothing is. */
export function valuesComplaint({key, operator, values}: Requirement): string | undefined {
  const complaints = values.flatMap((value, index) => {
    const path = `values[${index}]`
    const problems = labelValue(value)
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
