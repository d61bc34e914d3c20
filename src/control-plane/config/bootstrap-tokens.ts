import {parseDuration} from '../../bootstrap/durations.ts'
import {parseUsages, requireGroups} from '../../bootstrap/token-info.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {parseToken} from '../../bootstrap/token.ts'
import {TrustError} from '../../errors.ts'
import type {WantedToken} from '../tokens/create.ts'
import {text, texts, type Read} from './fields.ts'

/** The value is not shown: in the wrong line, or with a letter too many, it is still most of a token. */
function refuse(name: string, expected: string): never {
  throw new TrustError('CONFIG_INVALID', `${name} must be ${expected}`)
}

const plainText: Read<string> = (value, name) =>
  typeof value === 'string' ? value : refuse(name, 'a string')

const time: Read<Date> = (value, name) =>
  parseTimestamp(plainText(value, name)) ?? refuse(name, 'a time as in "2027-01-31T12:00:00Z"')

const FIELDS: {[Name in keyof WantedToken]-?: Read<WantedToken[Name]>} = {
  token: (value, name) => parseToken(plainText(value, name)),
  description: plainText,
  ttl: (value, name) => parseDuration(text(value, name), name),
  expires: time,
  usages: (value, name) => parseUsages(texts(value, name)),
  groups: (value, name) => requireGroups(texts(value, name)),
}

const isField = (name: string): name is keyof WantedToken => Object.hasOwn(FIELDS, name)

function bootstrapToken(value: unknown, name: string): WantedToken {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(name, 'a map')
  }
  const wanted: WantedToken = {}
  for (const [field, content] of Object.entries(value)) {
    if (!isField(field)) {
      throw new TrustError('CONFIG_INVALID', `${name} has an unknown field`, {
        hints: [`the fields are ${Object.keys(FIELDS).join(', ')}`],
      })
    }
    if (content !== null)
      Object.assign(wanted, {[field]: FIELDS[field](content, `${name}.${field}`)})
  }
  return wanted
}

/** `bootstrapTokens` of kubeadm's InitConfiguration. */
export const bootstrapTokens: Read<WantedToken[]> = (value, name) =>
  Array.isArray(value)
    ? value.map((one: unknown, index) => bootstrapToken(one, `${name}[${index}]`))
    : refuse(name, 'a list of tokens')
