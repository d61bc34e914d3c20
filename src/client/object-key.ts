import type {ApiObject} from '../api/meta.ts'
import {TrustError} from '../errors.ts'

export interface ObjectKey {
  name: string
  namespace?: string | undefined
}

/** An object by key, or by text: `name` or `namespace/name`, as in work queues. */
export type ObjectRef = string | ObjectKey

export function toKey(ref: ObjectRef): ObjectKey {
  if (typeof ref !== 'string') return ref
  const slash = ref.indexOf('/')
  return slash === -1 ? {name: ref} : {namespace: ref.slice(0, slash), name: ref.slice(slash + 1)}
}

/** The text form of an object's key. */
export function keyOf({metadata: {name = '', namespace}}: Pick<ApiObject, 'metadata'>): string {
  return namespace ? `${namespace}/${name}` : name
}

/** Encodes one segment of a path. Refuses what is not allowed in any name of Kubernetes. */
export function pathSegment(text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new TrustError('INVALID', `"${text}" cannot be the name of an object`, {
      hints: ['a name must not be empty, "." or "..", and must not contain "/" or "%"'],
    })
  }
  return encodeURIComponent(text)
}
