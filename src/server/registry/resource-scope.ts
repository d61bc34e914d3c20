import type {ApiObject, UserInfo} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import type {ApiRequest} from '../kernel/api-request.ts'
import {callerGroup} from '../kernel/users.ts'
import type {Pause, Turns} from '../limits/turns.ts'
import type {ResourceRequestInfo} from '../authz/request-info.ts'
import {decodeBody, decodeObject} from '../codec/decode-body.ts'
import {DecodeError} from '../codec/decode-error.ts'
import {
  groupVersion,
  type Authorize,
  type OperationContext,
  type Resource,
} from '../kernel/resource.ts'
import {badRequest, methodNotAllowed, notFound, unsupportedMediaType} from '../kernel/status.ts'
import {includeObjectOf} from '../table/table.ts'
import {negotiate} from '../table/negotiate.ts'
import type {DeleteOptions} from './delete.ts'
import {catchUp, type Waiting} from './freshness.ts'
import {requestTimeout, type WriteOptions} from './options.ts'
import type {Presentation} from './present.ts'
import type {ResourceStore} from './resource-store.ts'
import type {Route, RouteTable} from './route-table.ts'
import {selectionOf, type Selection} from './selection.ts'
import type {StoredObject} from './stored-object.ts'
import {shapeOfVersion, type WriteServices, type WriteTarget} from './write.ts'

export interface EndpointDeps extends WriteServices {
  routes: RouteTable
  authorize: Authorize
  clock: Clock
  /** A random number from 0 up to 1, which spreads the ends of watches. */
  random: () => number
  /** Where long reads wait for each other. */
  turns: Turns
}

/** An authorized request for a resource. */
export interface ResourceCall {
  info: ResourceRequestInfo
  request: ApiRequest
  user: UserInfo
  /** Throws if memory is too old to tell, or if the caller's credential or right has ended since the check at the start. */
  requireStillAllowed: () => Promise<void> | void
  /** Called once something is stored, or a token is issued. */
  hasWritten: () => void
  /** The pin of the key of the caller's client certificate, if it authenticated with one. */
  callerKey?: string | undefined
}

/** One request on one resource, with what every verb needs. */
export class ResourceScope {
  readonly deps: EndpointDeps
  readonly call: ResourceCall
  readonly route: Route
  /** Shown to the caller as Warning headers. */
  readonly warnings: string[]

  constructor(deps: EndpointDeps, call: ResourceCall, route: Route) {
    this.deps = deps
    this.call = call
    this.route = route
    this.warnings = [...route.warnings]
  }

  get resource(): Resource {
    return this.route.resource
  }

  get query(): URLSearchParams {
    return this.call.request.query
  }

  get store(): ResourceStore {
    const {group, plural} = this.resource
    const store = this.deps.registry.store(group, plural)
    if (store === undefined) throw methodNotAllowed()
    return store
  }

  /** The caller is in the same process and takes stored objects as they are. */
  get takesObjects(): boolean {
    const {request, info} = this.call
    return request.takesObjects === true && info.version === this.resource.version
  }

  get apiVersion(): string {
    return groupVersion(this.call.info)
  }

  get #namespace(): string {
    return this.resource.namespaced ? this.call.info.namespace : ''
  }

  get waiting(): Waiting {
    return {timeout: requestTimeout(this.query), signal: this.call.request.signal}
  }

  /** For what takes long if much is stored. */
  pauses(): Pause {
    const {user, request} = this.call
    return this.deps.turns.pauses([callerGroup(user), user.username], request.signal)
  }

  /**
   * Called with every body that was read, however long its sender took: what it asks for is decided by what all servers have written
   * until then, and only for a caller who may still ask.
   */
  async #received<T>(body: T): Promise<T> {
    await catchUp(this.deps.registry, this.waiting)
    await this.call.requireStillAllowed()
    return body
  }

  /** The object that the path names. */
  stored(): StoredObject {
    const {name} = this.call.info
    const stored = this.store.get(this.#namespace, name)
    if (stored === undefined) throw notFound(this.resource, name)
    return stored
  }

  selection(): Selection {
    const {named, name} = this.call.info
    return selectionOf(this.resource, {
      query: this.query,
      namespace: this.#namespace,
      named: named ? name : undefined,
    })
  }

  presentation(): Presentation {
    // A watch keeps its presentation, and must not keep everything else about its request by that.
    const {clock} = this.deps
    return {
      resource: this.resource,
      version: this.call.info.version,
      representation: negotiate(this.call.request.headers.accept),
      include: includeObjectOf(this.query.get('includeObject')),
      now: () => clock.now(),
    }
  }

  target(
    options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>,
    object = {namespace: this.#namespace, name: this.call.info.name},
  ): WriteTarget {
    return {
      store: this.store,
      context: {...this.context(options.dryRun), ...object},
      shape: shapeOfVersion(this.resource, this.route.type),
      apiVersion: this.apiVersion,
      manager: this.manager(options),
      requireStillAllowed: this.call.requireStillAllowed,
      hasWritten: this.call.hasWritten,
    }
  }

  /** The field manager: the given name, else from the caller's User-Agent. */
  manager({fieldManager}: Pick<WriteOptions, 'fieldManager'>): string {
    if (fieldManager !== '') return fieldManager
    const [agent = ''] = (this.call.request.headers['user-agent'] ?? '').split('/')
    return agent.slice(0, 128)
  }

  context(dryRun: boolean): OperationContext {
    const {info, user, request, callerKey} = this.call
    const seen = {address: request.remoteAddress, key: callerKey}
    return {
      user,
      seen: request.headers['impersonate-user'] ? undefined : seen,
      clock: this.deps.clock,
      namespace: this.#namespace,
      name: info.name,
      subresource: info.subresource,
      version: info.version,
      dryRun,
      authorize: this.deps.authorize,
      objects: this.deps.registry,
      warn: (text) => this.warnings.push(text),
    }
  }

  async body(): Promise<Uint8Array> {
    return this.#received(await this.#bytes())
  }

  async decode(options: WriteOptions, type = this.route.type): Promise<ApiObject> {
    const {object} = this.call.request
    if (object !== undefined) return this.#received(this.#given(object, type))
    return this.#received(await this.#decode(await this.#bytes(), type, options.fieldValidation))
  }

  /** The body of a DELETE, which may be empty. */
  async deleteBody(): Promise<DeleteOptions> {
    const {object} = this.call.request
    const type = 'meta/v1.DeleteOptions'
    if (object !== undefined) return this.#received(this.#given(object, type) as DeleteOptions)
    const bytes = await this.#bytes()
    if (bytes.length === 0) return this.#received({})
    return this.#received((await this.#decode(bytes, type, 'Ignore')) as DeleteOptions)
  }

  async #bytes(): Promise<Uint8Array> {
    const {body} = this.call.request
    return typeof body === 'function' ? body() : body
  }

  #given(object: ApiObject, type: string): ApiObject {
    try {
      return decodeObject({object, type, custom: this.resource.custom === true})
    } catch (error) {
      throw error instanceof DecodeError ? toStatus(error) : error
    }
  }

  async #decode(
    bytes: Uint8Array,
    type: string,
    fieldValidation: WriteOptions['fieldValidation'],
  ): Promise<ApiObject> {
    try {
      const {object, warnings} = await decodeBody({
        bytes,
        contentType: this.call.request.headers['content-type'],
        type,
        fieldValidation,
        custom: this.resource.custom === true,
      })
      this.warnings.push(...warnings)
      return object
    } catch (error) {
      throw error instanceof DecodeError ? toStatus(error) : error
    }
  }
}

const toStatus = ({kind, message}: DecodeError) =>
  kind === 'badRequest' ? badRequest(message) : unsupportedMediaType(message)
