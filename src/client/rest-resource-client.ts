import type {ApiList, ApiObject} from '../api/meta.ts'
import {TrustError} from '../errors.ts'
import type {ApiCaller} from './api-call.ts'
import {listPages} from './list-pages.ts'
import {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  keyOf,
  type ListOptions,
  type ObjectKey,
  type ObjectRef,
  type PatchOptions,
  type PatchType,
  type ResourceClient,
  type ResourceType,
  type SelectOptions,
  toKey,
  type WatchOptions,
  type WriteOptions,
} from './resource-client.ts'
import {
  apiVersionOf,
  collectionPath,
  objectPath,
  queryOf,
  selectQuery,
  writeQuery,
} from './resource-path.ts'
import {isMissingObject} from './status-errors.ts'
import {
  watchBatches,
  watchEvents,
  type ObjectEvent,
  type ReceivedEvent,
  type WatchCall,
} from './watch.ts'

const PATCH_TYPES: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** A resource over REST. */
export class RestResourceClient<T extends ApiObject> implements ResourceClient<T> {
  readonly #caller: ApiCaller
  readonly #type: ResourceType
  readonly #namespace: string

  constructor(caller: ApiCaller, type: ResourceType, namespace: string) {
    this.#caller = caller
    this.#type = type
    this.#namespace = namespace
  }

  async get(ref: ObjectRef, {signal}: CallOptions = {}): Promise<T> {
    return await this.#send('GET', this.#pathTo(toKey(ref)), {signal})
  }

  async find(ref: ObjectRef, options: CallOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(ref, options)
    } catch (error) {
      if (isMissingObject(error)) return undefined
      throw error
    }
  }

  async list(options: ListOptions<T> = {}): Promise<ApiList<T>> {
    return await listPages<T>(this.#caller, this.#type, options)
  }

  watch(options: WatchOptions = {}): AsyncIterable<ObjectEvent<T>> {
    return watchEvents<T>(this.#caller, this.#watchCall(options))
  }

  watchBatches(options: WatchOptions = {}): AsyncIterable<readonly ReceivedEvent<T>[]> {
    return watchBatches<T>(this.#caller, this.#watchCall(options))
  }

  async create(object: T, options: WriteOptions = {}): Promise<T> {
    const namespace = object.metadata.namespace ?? this.#namespace
    const path = collectionPath(this.#type, namespace)
    return await this.#send('POST', path, {...options, body: this.#typed(object)})
  }

  async update(object: T, options: WriteOptions = {}): Promise<T> {
    return await this.#put(object, undefined, options)
  }

  async updateStatus(object: T, options: WriteOptions = {}): Promise<T> {
    return await this.#put(object, 'status', options)
  }

  async updateSubresource(subresource: string, object: T, options: WriteOptions = {}): Promise<T> {
    return await this.#put(object, subresource, options)
  }

  async createSubresource<S extends ApiObject>(
    ref: ObjectRef,
    subresource: string,
    body: S,
    options: WriteOptions = {},
  ): Promise<S> {
    const path = this.#pathTo(toKey(ref), subresource)
    return await this.#send<S>('POST', path, {...options, body})
  }

  async patch(ref: ObjectRef, patch: unknown, options: PatchOptions): Promise<T> {
    const path = this.#pathTo(toKey(ref), options.subresource)
    const contentType = PATCH_TYPES[options.type]
    return await this.#send('PATCH', path, {...options, body: patch, contentType})
  }

  async apply(object: ApiObject, options: ApplyOptions): Promise<T> {
    return await this.#send('PATCH', this.#pathTo(toKey(keyOf(object)), options.subresource), {
      ...options,
      body: this.#typed(object),
      contentType: 'application/apply-patch+yaml',
    })
  }

  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    await this.#send('DELETE', this.#pathTo(toKey(ref)), {
      signal: options.signal,
      body: deleteBody(options),
    })
  }

  async deleteCollection(select: SelectOptions, options: DeleteOptions = {}): Promise<void> {
    if (this.#type.namespaced && !select.namespace) {
      throw new TrustError('BAD_REQUEST', 'objects are deleted in one namespace at a time')
    }
    await this.#caller.json({
      method: 'DELETE',
      path: collectionPath(this.#type, select.namespace),
      query: queryOf(selectQuery(select)),
      body: deleteBody(options),
      signal: select.signal ?? options.signal,
    })
  }

  async #put(object: T, subresource: string | undefined, options: WriteOptions): Promise<T> {
    const path = this.#pathTo(toKey(keyOf(object)), subresource)
    return await this.#send('PUT', path, {...options, body: this.#typed(object)})
  }

  async #send<S extends ApiObject = T>(
    method: string,
    path: string,
    options: WriteOptions & {force?: boolean | undefined; body?: unknown; contentType?: string},
  ): Promise<S> {
    const answer = await this.#caller.json({
      method,
      path,
      query: queryOf({...writeQuery(options), force: options.force}),
      body: options.body,
      contentType: options.contentType,
      signal: options.signal,
    })
    return answer as S
  }

  #watchCall(options: WatchOptions): WatchCall {
    const {namespace, resourceVersion, timeoutSeconds, bookmarks = true, signal} = options
    return {
      path: collectionPath(this.#type, namespace),
      query: queryOf({
        watch: true,
        allowWatchBookmarks: bookmarks || undefined,
        ...selectQuery(options),
        resourceVersion,
        timeoutSeconds,
      }),
      signal,
      timeoutSeconds,
    }
  }

  #pathTo({name, namespace}: ObjectKey, subresource?: string): string {
    return objectPath(this.#type, {name, namespace: namespace ?? this.#namespace}, subresource)
  }

  #typed<S extends ApiObject>(object: S): S {
    const {kind} = this.#type
    return kind === undefined ? object : {apiVersion: apiVersionOf(this.#type), kind, ...object}
  }
}

function deleteBody(options: DeleteOptions): Record<string, unknown> {
  const {uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun} = options
  const conditional = uid !== undefined || resourceVersion !== undefined
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: conditional ? {uid, resourceVersion} : undefined,
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ['All'] : undefined,
  }
}
