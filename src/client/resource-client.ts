import type {ApiList, ApiObject, HeldObject} from '../api/meta.ts'
import {TrustError} from '../errors.ts'
import type {ObjectEvent, ReceivedEvent} from './watch.ts'

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

/** Where a resource is served. */
export interface ResourceType {
  /** Empty for the core group. */
  group: string
  version: string
  plural: string
  namespaced: boolean
  /** Added to objects that have no kind. */
  kind?: string | undefined
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

export interface SelectOptions extends CallOptions {
  /** Without it: all namespaces. */
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
}

export interface ListOptions<T = ApiObject> extends SelectOptions {
  resourceVersion?: string | undefined
  /** The size of a page; all pages are read in any case. */
  pageSize?: number | undefined
  /**
   * Receives each page as it arrives, and the returned list has no items: for callers that do not need all of them in memory at once.
   * A second first page means that the list was started again, and earlier pages do not count.
   */
  onPage?: ((items: T[], isFirst: boolean) => Promise<void> | void) | undefined
  /** As `onPage`, for those who hold the objects for long. */
  onHeldPage?: ((items: HeldObject<T>[], isFirst: boolean) => void) | undefined
}

export interface WatchOptions extends SelectOptions {
  /** Events after this version; without it the existing objects come first, as ADDED. */
  resourceVersion?: string | undefined
  bookmarks?: boolean | undefined
  timeoutSeconds?: number | undefined
}

export interface WriteOptions extends CallOptions {
  fieldManager?: string | undefined
  dryRun?: boolean | undefined
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string
  /** Takes fields over from other managers instead of failing with CONFLICT. */
  force?: boolean | undefined
  subresource?: string | undefined
}

export interface PatchOptions extends WriteOptions {
  type: PatchType
  subresource?: string | undefined
}

/** JSON Patch (RFC 6902), merge patch (RFC 7386), or Kubernetes' strategic merge patch. */
export type PatchType = 'json' | 'merge' | 'strategic'

export interface DeleteOptions extends CallOptions {
  /** Preconditions: if the object was recreated or changed, nothing is deleted and CONFLICT is thrown. */
  uid?: string | undefined
  resourceVersion?: string | undefined
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined
  gracePeriodSeconds?: number | undefined
  dryRun?: boolean | undefined
}

/**
 * The objects of one resource. A namespaced object without a namespace belongs to
 * the client's (the kubeconfig's, else `default`).
 */
export interface ResourceClient<T extends ApiObject> {
  get(ref: ObjectRef, options?: CallOptions): Promise<T>
  /** As get, but undefined if there is no such object. */
  find(ref: ObjectRef, options?: CallOptions): Promise<T | undefined>
  /** Reads all pages at one resourceVersion. */
  list(options?: ListOptions<T>): Promise<ApiList<T>>
  watch(options?: WatchOptions): AsyncIterable<ObjectEvent<T>>
  /** As watch, those events together that arrive together. */
  watchBatches(options?: WatchOptions): AsyncIterable<readonly ReceivedEvent<T>[]>
  create(object: T, options?: WriteOptions): Promise<T>
  /** Fails with CONFLICT if the object's resourceVersion is not the stored one. */
  update(object: T, options?: WriteOptions): Promise<T>
  updateStatus(object: T, options?: WriteOptions): Promise<T>
  updateSubresource(subresource: string, object: T, options?: WriteOptions): Promise<T>
  /** Creates something under an object: a token of a ServiceAccount, a pod's binding. */
  createSubresource<S extends ApiObject>(
    ref: ObjectRef,
    subresource: string,
    body: S,
    options?: WriteOptions,
  ): Promise<S>
  patch(ref: ObjectRef, patch: unknown, options: PatchOptions): Promise<T>
  /** Server-side apply: the object has only the fields that the manager wants to own. */
  apply(object: ApiObject, options: ApplyOptions): Promise<T>
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<void>
  deleteCollection(select: SelectOptions, options?: DeleteOptions): Promise<void>
}
