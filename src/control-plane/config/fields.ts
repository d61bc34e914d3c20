import {isIP} from 'node:net'
import {TrustError} from '../../errors.ts'
import {KEY_ALGORITHMS, type KeyAlgorithm} from '../../pki/keys.ts'
import {parseDuration} from './duration.ts'
import {requireSubnet} from './subnet.ts'

/** Reads the value of a field, or refuses it. `name` is how the operator knows the field. */
export type Read<Value> = (value: unknown, name: string) => Value

function refuse(name: string, expected: string): never {
  throw new TrustError('CONFIG_INVALID', `${name} has to be ${expected}`)
}

export const text: Read<string> = (value, name) =>
  typeof value === 'string' && value !== '' ? value : refuse(name, 'a text')

export const texts: Read<string[]> = (value, name) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')
    ? (value as string[])
    : refuse(name, 'a list of texts')

export const address: Read<string> = (value, name) =>
  typeof value === 'string' && isIP(value) !== 0 ? value : refuse(name, 'an IP address')

export const port: Read<number> = (value, name) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535
    ? (value as number)
    : refuse(name, 'a port number from 0 to 65535')

export const duration: Read<number> = (value, name) => {
  const milliseconds = parseDuration(text(value, name), name)
  return milliseconds > 0 ? milliseconds : refuse(name, 'longer than nothing')
}

export const keyAlgorithm: Read<KeyAlgorithm> = (value, name) =>
  KEY_ALGORITHMS.find((one) => one === value) ?? refuse(name, `one of ${KEY_ALGORITHMS.join(', ')}`)

export const subnet: Read<string> = (value, name) => requireSubnet(text(value, name), name)
