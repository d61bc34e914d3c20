import type {Read} from '../control-plane/config/fields.ts'
import {TrustError, hasCode} from '../errors.ts'

/** Reads the value of a flag by the rule that a configuration file has for the same setting. */
export function readFlag<Value>(name: string, value: unknown, read: Read<Value>): Value {
  try {
    return read(value, `--${name}`)
  } catch (error) {
    if (!hasCode(error, 'CONFIG_INVALID')) throw error
    throw new TrustError('USAGE', error.message, {cause: error, hints: error.suggestions})
  }
}
