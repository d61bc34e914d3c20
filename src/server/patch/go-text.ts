import {isObject} from '../kernel/json-value.ts'
import {StatusError} from '../kernel/status.ts'

/** A JSON value as Kubernetes' error texts show it: `map[a:1 b:[x y]]`, `<nil>`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (isObject(value)) {
    const pairs = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goText(value[key])}`)
    return `map[${pairs.join(' ')}]`
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The name of a decoded JSON value's type, as in `expected a X, but received a Y`. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return 'map[string]interface {}'
}

/** The patch was understood and does not apply: Kubernetes reports no more than this. */
export const rejected = () =>
  new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  )

/** Kubernetes returns most failures of a strategic merge as 500, with only the text and no reason. */
export const failed = (message: string) => new StatusError(500, undefined, message)

export const noMergeKey = (item: unknown, key: string) =>
  failed(`map: ${goText(item)} does not contain declared merge key: ${key}`)
