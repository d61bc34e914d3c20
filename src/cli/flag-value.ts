import type {Read} from '../control-plane/config/fields.ts'
import {TrustError, hasCode} from '../errors.ts'

/** Parses the given flags by the rules of a configuration file; undefined for flags that were not given. */
export const flagReader =
  <Flags extends object>(flags: Flags) =>
  <Value>(name: keyof Flags & string, read: Read<Value>): Value | undefined =>
    flags[name] === undefined ? undefined : readFlag(name, flags[name], read)

/** The entries that are not undefined. */
export const given = <T extends object>(values: T): {[Name in keyof T]?: NonNullable<T[Name]>} =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>
  }

/** Parses the value of a flag by the rule of the same setting in a configuration file. */
export function readFlag<Value>(name: string, value: unknown, read: Read<Value>): Value {
  try {
    return read(value, `--${name}`)
  } catch (error) {
    if (!hasCode(error, 'CONFIG_INVALID')) throw error
    throw new TrustError('USAGE', error.message, {cause: error, hints: error.hints})
  }
}

const SHA256 = /^[0-9a-f]{64}$/

/** A SHA-256 in hexadecimal, in whatever case. */
export function requireHash(name: string, value: string): string {
  const hash = value.trim().toLowerCase()
  if (SHA256.test(hash)) return hash
  throw new TrustError('USAGE', `--${name} must be a hash of 64 hexadecimal digits`)
}
