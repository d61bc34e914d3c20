import type {ApiObject, HeldObject} from '../api/meta.ts'
import {keyOf} from './resource-client.ts'

export const isSameState = (one: HeldObject<unknown>, other: HeldObject<unknown>): boolean =>
  one === other || (one.resourceVersion === other.resourceVersion && one.uid === other.uid)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Its JSON text. As an object it would take many times the memory, and how many is up to whoever made it. */
export class EncodedObject<T extends ApiObject> implements HeldObject<T> {
  readonly key: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly #text: Uint8Array

  constructor(object: T) {
    const {uid, resourceVersion} = object.metadata
    this.key = keyOf(object)
    this.uid = uid
    this.resourceVersion = resourceVersion
    this.#text = encoder.encode(JSON.stringify(object))
  }

  /** Another copy each time. */
  get object(): T {
    return JSON.parse(decoder.decode(this.#text)) as T
  }
}
