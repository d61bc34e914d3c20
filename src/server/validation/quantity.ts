/** A resource quantity in billionths, so that arithmetic is exact. */
export interface Quantity {
  nanos: bigint
  format: 'decimal' | 'binary' | 'exponent'
}

/** Longer than any meaningful amount, and short enough for exact arithmetic on every field of a large object. */
const MOST_CHARACTERS = 64
const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?$/
const NANO_DIGITS = 9
const DECIMAL: Record<string, number> = {n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18}
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const MOST_EXPONENT = 30

/** Kubernetes' message for text that is not a quantity. */
export const QUANTITY_PATTERN_TEXT =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** Digits times a power of ten, in billionths, rounded away from zero. */
function scaled(digits: bigint, exponent: number): bigint {
  const power = exponent + NANO_DIGITS
  if (power >= 0) return digits * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (digits + divisor - 1n) / divisor
}

/** Reads a quantity; undefined if the text is not one. */
export function parseQuantity(value: string | number): Quantity | undefined {
  const text = String(value)
  if (text.length > MOST_CHARACTERS) return undefined
  const [, sign = '', number, suffix = ''] = FORM.exec(text) ?? []
  if (number === undefined) return undefined
  const [integer = '', fraction = ''] = number.split('.')
  const digits = BigInt(`${integer}${fraction}`)
  const negate = sign === '-' ? -1n : 1n

  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) {
    const factor = 1024n ** BigInt(binary + 1)
    return {nanos: negate * scaled(digits * factor, -fraction.length), format: 'binary'}
  }
  const exponent = /^[eE]./.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL[suffix] ?? 0)
  if (Math.abs(exponent) > MOST_EXPONENT) return undefined
  const format = /^[eE]./.test(suffix) ? 'exponent' : 'decimal'
  return {nanos: negate * scaled(digits, exponent - fraction.length), format}
}

function binaryText(nanos: bigint): string | undefined {
  let rest = nanos / 10n ** 9n
  if (rest * 10n ** 9n !== nanos || (rest > -1024n && rest < 1024n)) return undefined
  let power = 0
  while (power < BINARY.length && rest % 1024n === 0n) {
    rest /= 1024n
    power += 1
  }
  return `${rest}${power === 0 ? '' : (BINARY[power - 1] ?? '')}`
}

function decimalText(nanos: bigint, exponential: boolean): string {
  if (nanos === 0n) return '0'
  let rest = nanos
  let exponent = -NANO_DIGITS
  while (exponent < 18 && rest % 1000n === 0n) {
    rest /= 1000n
    exponent += 3
  }
  if (exponent === 0) return String(rest)
  if (exponential) return `${rest}e${exponent}`
  const suffix = Object.keys(DECIMAL).find((name) => DECIMAL[name] === exponent) ?? ''
  return `${rest}${suffix}`
}

/** The one way in which the API writes an amount: `0.5` is `500m`, `1024Mi` is `1Gi`. Other text comes back as it is. */
export function canonicalQuantity(value: string | number): string {
  const quantity = parseQuantity(value)
  if (quantity === undefined) return String(value)
  const binary = quantity.format === 'binary' ? binaryText(quantity.nanos) : undefined
  return binary ?? decimalText(quantity.nanos, quantity.format === 'exponent')
}

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`; invalid text counts as zero. */
export function compareQuantities(a: string | number, b: string | number): number {
  const left = parseQuantity(a)?.nanos ?? 0n
  const right = parseQuantity(b)?.nanos ?? 0n
  return left < right ? -1 : left > right ? 1 : 0
}
