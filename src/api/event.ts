import type {ObjectReference} from './core.ts'
import type {ApiObject} from './meta.ts'

/** What happened to an object, for people to read (core `v1`). */
export interface Event extends ApiObject {
  involvedObject: ObjectReference
  related?: ObjectReference
  reason?: string
  message?: string
  type?: 'Normal' | 'Warning'
  action?: string
  count?: number
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  eventTime?: string | null
  source?: {component?: string; host?: string}
  series?: {count?: number; lastObservedTime?: string | null}
  reportingComponent?: string
  reportingInstance?: string
}
