import {isIP} from 'node:net'

import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue} from '../kernel/field-error.ts'
import {portName} from './names.ts'
import {checkWith, inRange} from './values.ts'

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export const portNumber = (field: string, value: number | undefined): FieldError[] =>
  inRange(field, value, 1, 65_535)

/** A port by number or by name: probes, a service's targetPort. */
export const portReference = (field: string, value: number | string): FieldError[] =>
  typeof value === 'number' ? portNumber(field, value) : checkWith(portName, field, value)

export const ipAddress = (field: string, value: string): FieldError[] =>
  isIP(value) === 0
    ? [invalidValue(field, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
    : []

export function cidr(field: string, value: string): FieldError[] {
  const [address = '', bits = '', ...rest] = value.split('/')
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  const right =
    family !== 0 && rest.length === 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= most
  return right
    ? []
    : [
        invalidValue(
          field,
          value,
          'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        ),
      ]
}
