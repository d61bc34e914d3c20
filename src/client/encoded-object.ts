import type {ApiObject} from '../api/meta.ts'
import {keyOf} from './object-key.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * An object as it is kept for long: its JSON text, read again for whoever asks. As an object it would take many times the
 * memory, and how many is up to whoever made it.
 */
export class EncodedObject<T extends ApiObject> {
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

  isSameAs(other: EncodedObject<T>): boolean {
    return this.resourceVersion === other.resourceVersion && this.uid === other.uid
  }
}
