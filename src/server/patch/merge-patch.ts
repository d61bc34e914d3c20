import {badRequest} from '../kernel/status.ts'
import {jsonTypeName} from './go-text.ts'
import {
  getOwn,
  deepCopy,
  isObject,
  type JsonObject,
  removeOwn,
  setOwn,
} from '../kernel/json-value.ts'

/** Changes `target`, which is already a copy. Values from the patch are copied. */
function mergeInto(target: JsonObject, patch: JsonObject): JsonObject {
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) {
      removeOwn(target, key)
    } else if (isObject(value)) {
      const current = getOwn(target, key)
      setOwn(target, key, mergeInto(isObject(current) ? current : {}, value))
    } else {
      setOwn(target, key, deepCopy(value))
    }
  }
  return target
}

/** RFC 7386. Inputs stay as they are. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return mergeInto(deepCopy(document), patch)
}
