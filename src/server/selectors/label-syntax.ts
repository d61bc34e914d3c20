import {fits} from '../validation/names.ts'

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

/** What is wrong with a label's key, in the words of Kubernetes' IsLabelKey; empty where it is fine. */
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

/** What is wrong with a label's value, in the words of Kubernetes' IsLabelValue; empty where it is fine. */
export function labelValueProblems(value: string): string[] {
  return [
    ...(value.length > MAX_NAME ? [tooLong(MAX_NAME)] : []),
    ...(fits(VALUE_PATTERN, value) ? [] : [VALUE_RULE]),
  ]
}
