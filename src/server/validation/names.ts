import {maxLengthText, patternText, type Check} from './values.ts'

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED})?`
const CONFIG_KEY = '[-._a-zA-Z0-9]+'

const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`)
const label = whole(LABEL)
const subdomain = whole(SUBDOMAIN)
const label1035 = whole(LABEL_1035)
const qualified = whole(QUALIFIED)
const labelValueForm = whole(LABEL_VALUE)
const configKeyForm = whole(CONFIG_KEY)

/** The most text that is checked: every rule below has a smaller limit and reports that. */
const MOST_MATCHED = 1024

const fits = (form: RegExp, value: string) => value.length > MOST_MATCHED || form.test(value)

/** Kubernetes counts bytes everywhere, but calls them so only for labels and their like. */
const tooLong = (value: string, most: number, unit?: 'bytes') =>
  Buffer.byteLength(value) > most ? [maxLengthText(most, unit)] : []

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const LABEL_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const QUALIFIED_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"

export const dnsLabel: Check = (value) => {
  const problems = tooLong(value, 63)
  if (fits(label, value)) return problems
  const why = subdomain.test(value)
    ? 'must not contain dots'
    : patternText(LABEL_RULE, LABEL, 'my-name', '123-abc')
  return [...problems, why]
}

const subdomainProblems = (value: string, unit?: 'bytes') => [
  ...tooLong(value, 253, unit),
  ...(fits(subdomain, value) ? [] : [patternText(SUBDOMAIN_RULE, SUBDOMAIN, 'example.com')]),
]

export const dnsSubdomain: Check = (value) => subdomainProblems(value)

export const dns1035Label: Check = (value) => [
  ...tooLong(value, 63),
  ...(fits(label1035, value)
    ? []
    : [patternText(LABEL_1035_RULE, LABEL_1035, 'my-name', 'abc-123')]),
]

/** A name with an optional DNS subdomain and `/` before it: label keys, taints, finalizers. */
export const qualifiedName: Check = (value) => {
  const parts = value.split('/')
  const form = patternText(QUALIFIED_RULE, QUALIFIED, 'MyName', 'my.name', '123-abc')
  if (parts.length > 2) {
    return [
      `a valid label key ${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.at(-1) ?? ''
  const problems: string[] = []
  if (parts.length === 2) {
    const [prefix = ''] = parts
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...subdomainProblems(prefix, 'bytes').map((why) => `prefix part ${why}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else problems.push(...tooLong(name, 63, 'bytes').map((why) => `name part ${why}`))
  if (!fits(qualified, name)) problems.push(`name part ${form}`)
  return problems
}

export const labelValue: Check = (value) => [
  ...tooLong(value, 63, 'bytes'),
  ...(fits(labelValueForm, value)
    ? []
    : [patternText(LABEL_VALUE_RULE, LABEL_VALUE, 'MyValue', 'my_value', '12345')]),
]

/** A key of a ConfigMap or a Secret. */
export const configKey: Check = (value) => {
  const problems = tooLong(value, 253)
  if (!fits(configKeyForm, value)) {
    problems.push(patternText(CONFIG_KEY_RULE, CONFIG_KEY, 'key.name', 'KEY_NAME', 'key-name'))
  }
  if (value === '.' || value === '..') problems.push(`must not be '${value}'`)
  else if (value.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

export const portName: Check = (value) => {
  const problems = tooLong(value, 15)
  if (value.length > MOST_MATCHED) return problems
  if (!/^[-a-z0-9]+$/.test(value)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) problems.push('must contain at least one letter (a-z)')
  if (value.includes('--')) problems.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) {
    problems.push('must not begin or end with a hyphen')
  }
  return problems
}

/** The rule for the names of a resource; a generateName is checked as the start of one. */
export type NameRule = (name: string, prefix: boolean) => string[]

const maskTrailingDash = (name: string) =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name

const nameBy =
  (check: Check): NameRule =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name)

export const dnsSubdomainName = nameBy(dnsSubdomain)
export const dnsLabelName = nameBy(dnsLabel)
export const dns1035LabelName = nameBy(dns1035Label)

/** Kubernetes has no limit, but a key of the store does: it contains the namespace, and three bytes for each character. */
const MOST_PATH_SEGMENT = 512
const HALF_A_CHARACTER = /\p{Surrogate}/u

/** Anything that is valid in a path: RBAC objects and certificate signing requests. */
export const pathSegmentName: NameRule = (name, prefix) => {
  if (name.length > MOST_PATH_SEGMENT) return [maxLengthText(MOST_PATH_SEGMENT)]
  if (HALF_A_CHARACTER.test(name)) return ['must be well-formed Unicode']
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`)
}
