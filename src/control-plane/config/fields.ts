import {isIP} from 'node:net'
import {resolve} from 'node:path'
import {requirePlainPath} from '../../fs/file-checks.ts'
import {parseDuration} from '../../bootstrap/durations.ts'
import {TrustError} from '../../errors.ts'
import {type AddressRange, parseCidr, requireAddressRange} from '../../pki/address-range.ts'
import {KEY_ALGORITHMS, type KeyAlgorithm} from '../../pki/keys.ts'
import {namesOfHosts} from '../../pki/subject-names.ts'

/** Reads the value of a field, or refuses it. `name` is the operator's name for the field. */
export type Read<Value> = (value: unknown, name: string) => Value

const HIGHEST_PORT = 65_535
const SECOND = 1000
const CENTURY = 876_000 * 3_600_000
const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const SUBDOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`)
const ENDPOINT = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d+))?$/

function refuse(name: string, expected: string, value: unknown): never {
  const shown = ['string', 'number', 'boolean'].includes(typeof value)
    ? `, not ${JSON.stringify(value)}`
    : ''
  throw new TrustError('CONFIG_INVALID', `${name} must be ${expected}${shown}`)
}

export const text: Read<string> = (value, name) =>
  typeof value === 'string' && value !== '' ? value : refuse(name, 'a text', value)

export const texts: Read<string[]> = (value, name) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')
    ? (value as string[])
    : refuse(name, 'a list of strings', value)

export const truth: Read<boolean> = (value, name) =>
  typeof value === 'boolean' ? value : refuse(name, 'true or false', value)

export const address: Read<string> = (value, name) =>
  typeof value === 'string' && isIP(value) !== 0 ? value : refuse(name, 'an IP address', value)

const isPort = (value: number, lowest: number): boolean =>
  Number.isInteger(value) && value >= lowest && value <= HIGHEST_PORT

export const port: Read<number> = (value, name) =>
  typeof value === 'number' && isPort(value, 0)
    ? value
    : refuse(name, `a port number from 0 to ${HIGHEST_PORT}`, value)

/** As `port`, from a command line. */
export const portText: Read<number> = (value, name) =>
  port(typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value, name)

const HIGHEST_COUNT = 1_000_000
const MIB = 1024 * 1024

const wholeNumber =
  (lowest: number, highest: number): Read<number> =>
  (value, name) => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
    return Number.isInteger(number) && Number(number) >= lowest && Number(number) <= highest
      ? Number(number)
      : refuse(name, `a whole number from ${lowest} to ${highest}`, value)
  }

export const count = wholeNumber(0, HIGHEST_COUNT)
export const atLeastOne = wholeNumber(1, HIGHEST_COUNT)
/** From what a server needs for its own objects to more than any machine has. */
export const storeBytes = wholeNumber(16 * MIB, MIB * MIB)

/** With less, one caller could not send the largest body. */
export const memoryMegabytes = wholeNumber(256, MIB)

/** kube-apiserver's "-" is refused: the standard output is used to report that the server is ready. */
export const logPath: Read<string> = (value, name) =>
  text(value, name) === '-'
    ? refuse(name, 'the path of a file', value)
    : requirePlainPath(resolve(text(value, name)))

/** As the API server requires for names of nodes. Converted to lower case, as kubeadm does. */
export const nodeName: Read<string> = (value, name) => {
  const lower = text(value, name).toLowerCase()
  return SUBDOMAIN.test(lower) ? lower : refuse(name, 'a name as in "node1.example.com"', value)
}

export const domain: Read<string> = (value, name) =>
  SUBDOMAIN.test(text(value, name))
    ? (value as string)
    : refuse(name, 'a DNS domain as in "cluster.local"', value)

export const domains: Read<string[]> = (value, name) =>
  texts(value, name).map((one) => domain(one, name))

export const cidrs: Read<string[]> = (value, name) => {
  const list = texts(value, name)
  const wrong = list.find((text) => parseCidr(text) === undefined)
  return wrong === undefined ? list : refuse(name, 'address blocks as in "10.0.0.0/16"', wrong)
}

function isHost(host: string): boolean {
  try {
    namesOfHosts([host])
    return true
  } catch {
    return false
  }
}

export const hosts: Read<string[]> = (value, name) => {
  const list = texts(value, name)
  const wrong = list.find((host) => !isHost(host))
  return wrong === undefined ? list : refuse(name, 'DNS names and IP addresses', wrong)
}

/** `host`, `host:port`, `[v6]:port` or a bare IPv6 address. */
export const endpoint: Read<string> = (value, name) => {
  const whole = text(value, name)
  if (isIP(whole) === 6) return whole
  const {v6, name: host, port: number} = ENDPOINT.exec(whole)?.groups ?? {}
  const isKnown = v6 === undefined ? isHost(host ?? '') : isIP(v6) === 6
  return isKnown && (number === undefined || isPort(Number(number), 1))
    ? whole
    : refuse(name, 'a host, or a host and a port as in "api.example.com:6443"', value)
}

function milliseconds(value: unknown, name: string): number | undefined {
  try {
    return parseDuration(text(value, name), name)
  } catch {
    return undefined
  }
}

export const duration: Read<number> = (value, name) => {
  const span = milliseconds(value, name)
  return span !== undefined && span >= SECOND && span <= CENTURY
    ? span
    : refuse(name, 'a duration as in "8760h", from a second to a hundred years', value)
}

export const keyAlgorithm: Read<KeyAlgorithm> = (value, name) =>
  KEY_ALGORITHMS.find((one) => one === value) ??
  refuse(name, `one of ${KEY_ALGORITHMS.join(', ')}`, value)

/** The range of the services' addresses. With two, one per IP family, the first is that of the service `kubernetes`. */
export function serviceRange(text: string, name = 'the service subnet'): AddressRange {
  const [first = ''] = text.split(',')
  return requireAddressRange(first.trim(), name)
}

export const subnet: Read<string> = (value, name) => {
  const range = text(value, name)
  serviceRange(range, name)
  return range
}

export const invalid = (message: string, ...hints: string[]): TrustError =>
  new TrustError('CONFIG_INVALID', message, {hints})

/** A map of the configuration that has only known fields. */
export function mapOf(
  value: unknown,
  name: string,
  known: readonly string[],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} is not a map`)
  }
  const unknown = Object.keys(value).find((field) => !known.includes(field))
  if (unknown === undefined) return value as Record<string, unknown>
  throw invalid(`unknown field ${name}.${unknown}`, `${name} has ${known.join(', ')}`)
}

/** The fields of a map, each read by its own rule. Those that are null count as left out. */
export function fieldsOf<Fields extends object>(
  value: unknown,
  name: string,
  readers: {[Name in keyof Fields]-?: Read<Fields[Name]>},
): Partial<Fields> {
  const rules = readers as Record<string, Read<unknown>>
  const read: Record<string, unknown> = {}
  for (const [field, content] of Object.entries(mapOf(value, name, Object.keys(rules)))) {
    if (content !== null) read[field] = rules[field]?.(content, `${name}.${field}`)
  }
  return read as Partial<Fields>
}

/** A list of things with names, none of them twice. */
export const namedList =
  <Item extends {name: string}>(what: string, most: number, read: Read<Item>): Read<Item[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw invalid(`${name} is not a list of ${what}`)
    if (value.length > most) throw invalid(`${name} has more than ${most} ${what}`)
    const items = value.map((one: unknown, index) => read(one, `${name}[${index}]`))
    const names = items.map((one) => one.name)
    const repeated = names.find((one, index) => names.indexOf(one) < index)
    if (repeated === undefined) return items
    throw invalid(`${name} has "${repeated}" twice`)
  }
