import type {StoredObject} from './stored-object.ts'

/** Which objects a list or a watch is about: those in a namespace that both selectors match. */
export interface Selection {
  /** Empty: all namespaces. */
  namespace: string
  /** Where the field selector names one object. */
  name: string | undefined
  /** No selector narrows it. */
  everything: boolean
  matches: (stored: StoredObject) => boolean
}
