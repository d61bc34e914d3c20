import type {ApiObject} from './meta.ts'

/** The kinds of the core group (`v1`) that hold configuration and identity. */
export interface Namespace extends ApiObject {
  spec?: {finalizers?: string[]}
  status?: {phase?: 'Active' | 'Terminating'; conditions?: NamespaceCondition[]}
}

interface NamespaceCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface Secret extends ApiObject {
  /** Values in base64. */
  data?: Record<string, string>
  /** Write-only: the server moves it into `data`. */
  stringData?: Record<string, string>
  type?: string
  immutable?: boolean
}

export interface ConfigMap extends ApiObject {
  data?: Record<string, string>
  /** Values in base64. */
  binaryData?: Record<string, string>
  immutable?: boolean
}

export interface ServiceAccount extends ApiObject {
  secrets?: ObjectReference[]
  imagePullSecrets?: {name?: string}[]
  automountServiceAccountToken?: boolean
}

export interface ObjectReference {
  apiVersion?: string
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
  fieldPath?: string
}

/** Puts a pod onto a node. */
export interface Binding extends ApiObject {
  target: ObjectReference
}

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
