/** The sentences that Kubernetes' validators build their messages from. */

export const maxLengthText = (length: number) => `must be no more than ${length} characters`

export const rangeText = (low: number, high: number) =>
  `must be between ${low} and ${high}, inclusive`

export function patternText(rule: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`
}

export const IMMUTABLE = 'field is immutable'
export const NOT_NEGATIVE = 'must be greater than or equal to 0'
