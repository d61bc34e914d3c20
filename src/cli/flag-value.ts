import type {Read} from '../control-plane/config/fields.ts'
import {TrustError, hasCode} from '../errors.ts'

/** Reads flags that were given by the rules of a configuration file; undefined for the others. */
export const flagReader =
  <Flags extends object>(flags: Flags) =>
  <Value>(name: keyof Flags & string, read: Read<Value>): Value | undefined =>
    flags[name] === undefined ? undefined : readFlag(name, flags[name], read)

/** What is not undefined. */
export const given = <T extends object>(values: T): {[Name in keyof T]?: NonNullable<T[Name]>} =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>
  }

/** Reads the value of a flag by the rule that a configuration file has for the same setting. */
export function readFlag<Value>(name: string, value: unknown, read: Read<Value>): Value {
  try {
    return read(value, `--${name}`)
  } catch (error) {
    if (!hasCode(error, 'CONFIG_INVALID')) throw error
    throw new TrustError('USAGE', error.message, {cause: error, hints: error.suggestions})
  }
}
