import type {ApiObject, UserInfo} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import type {ApiRequest, ApiResponse} from '../api-request.ts'
import type {ResourceRequestInfo} from '../authz/request-info.ts'
import {decodeBody, DecodeError} from '../codec/index.ts'
import {jsonSyntaxFault} from '../codec/json-syntax.ts'
import {PAGE_NOT_FOUND} from '../page-not-found.ts'
import {groupVersion, type Authorize, type OperationContext} from '../resource.ts'
import {parseFieldSelector, parseLabelSelector} from '../selectors/index.ts'
import {
  badRequest,
  methodNotAllowed,
  notFound,
  StatusError,
  unsupportedMediaType,
} from '../status.ts'
import {includeObjectOf, negotiate, negotiatePlain} from '../table/index.ts'
import {create} from './create.ts'
import {deletedStatus, deleteOptions, remove, type DeleteOptions} from './delete.ts'
import {list} from './list.ts'
import {listOptions, requestTimeout, writeOptions, type WriteOptions} from './options.ts'
import {patch} from './patch.ts'
import {eventForm, presentList, presentObject, type Presentation} from './present.ts'
import type {ResourceStore} from './resource-store.ts'
import {reviewed} from './review.ts'
import type {RouteTable, Route} from './route-table.ts'
import type {Selection} from './selection.ts'
import {parse, type StoredObject} from './stored-object.ts'
import {replace, update} from './update.ts'
import {startWatch} from './watch.ts'
import {shapeOfVersion, type WriteResult, type WriteServices, type WriteTarget} from './write.ts'

export interface EndpointDeps extends WriteServices {
  routes: RouteTable
  authorize: Authorize
  clock: Clock
}

/** A request for a resource that may be served. */
export interface ResourceCall {
  info: ResourceRequestInfo
  request: ApiRequest
  user: UserInfo
}

const JSON_HEADERS = {'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private'}

/** Serves the verbs of every resource of the table. */
export function createResourceEndpoint(deps: EndpointDeps) {
  return async (call: ResourceCall): Promise<ApiResponse> => {
    if (!deps.routes.hasGroup(call.info.group)) return PAGE_NOT_FOUND
    const route = deps.routes.find(call.info)
    const warnings: string[] = [...route.warnings]
    const answer = await new ResourceOperation(deps, call, route, warnings).serve()
    if (warnings.length === 0) return answer
    return {...answer, headers: {...answer.headers, Warning: warnings.map(warningHeader)}}
  }
}

/** As RFC 7234; what a header cannot carry is left out. */
const warningHeader = (text: string) =>
  `299 - "${text.replaceAll(/[^\t\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`

class ResourceOperation {
  readonly #deps: EndpointDeps
  readonly #call: ResourceCall
  readonly #route: Route
  readonly #warnings: string[]

  constructor(deps: EndpointDeps, call: ResourceCall, route: Route, warnings: string[]) {
    this.#deps = deps
    this.#call = call
    this.#route = route
    this.#warnings = warnings
  }

  async serve(): Promise<ApiResponse> {
    const {resource, subresource} = this.#route
    if (resource.review !== undefined) return this.#review()
    switch (this.#call.info.verb) {
      case 'get':
        return this.#get()
      case 'list':
        return this.#list()
      case 'watch':
        return this.#watch()
      case 'create':
        return subresource?.create === undefined ? this.#create() : this.#createSubresource()
      case 'update':
        return this.#update()
      case 'patch':
        return this.#patch()
      case 'delete':
        return this.#delete()
      case 'deletecollection':
        return this.#deleteCollection()
      default:
        throw methodNotAllowed()
    }
  }

  get #store(): ResourceStore {
    const {group, plural} = this.#route.resource
    const store = this.#deps.registry.store(group, plural)
    if (store === undefined) throw methodNotAllowed()
    return store
  }

  get #namespace(): string {
    return this.#route.resource.namespaced ? this.#call.info.namespace : ''
  }

  #get(): ApiResponse {
    const stored = this.#stored()
    return this.#answer(200, presentObject(this.#presentation(), stored.json))
  }

  #stored(): StoredObject {
    const {name} = this.#call.info
    const stored = this.#store.get(this.#namespace, name)
    if (stored === undefined) throw notFound(this.#route.resource, name)
    return stored
  }

  async #list(): Promise<ApiResponse> {
    const {query, signal} = this.#call.request
    const presentation = this.#presentation()
    const page = await list(this.#deps.registry, this.#store, {
      options: listOptions(query, false),
      selection: this.#selection(),
      explainJson: (text) => jsonSyntaxFault(text) ?? 'unexpected value',
      timeout: requestTimeout(query),
      signal,
    })
    return this.#answer(200, presentList(presentation, page))
  }

  #watch(): ApiResponse {
    const {method, query, signal} = this.#call.request
    // The old paths for watches make every method one.
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed()
    const body = startWatch(this.#deps.registry, this.#store, {
      options: listOptions(query, true),
      selection: this.#selection(),
      form: eventForm(this.#presentation()),
      signal,
    })
    return {status: 200, headers: JSON_HEADERS, body}
  }

  async #create(): Promise<ApiResponse> {
    if (this.#route.subresource !== undefined) throw methodNotAllowed()
    const options = writeOptions(this.#call.request.query, 'CreateOptions')
    const object = await this.#decode(this.#route.type, options)
    this.#route.defaults?.(object)
    return this.#written(await create(this.#deps, this.#target(options), object))
  }

  async #createSubresource(): Promise<ApiResponse> {
    const {subresource, resource} = this.#route
    const {name, subresource: path} = this.#call.info
    const options = writeOptions(this.#call.request.query, 'CreateOptions')
    const body = await this.#decode(subresource?.kind?.type ?? this.#route.type, options)
    const old = parse(this.#stored())
    const context = this.#context(options.dryRun)
    await this.#deps.admit(
      {verb: 'create', resource, subresource: path, name, object: body, old},
      context,
    )
    let result: ApiObject | undefined
    if (subresource?.stores === true) {
      await update(this.#deps, this.#target(options), async (object) => {
        result = await subresource.create?.(body, object, context)
        return {object}
      })
    } else result = await subresource?.create?.(body, old, context)
    return this.#answer(201, JSON.stringify(result))
  }

  async #update(): Promise<ApiResponse> {
    const options = writeOptions(this.#call.request.query, 'UpdateOptions')
    const object = await this.#decode(this.#route.type, options)
    this.#route.defaults?.(object)
    return this.#written(await replace(this.#deps, this.#target(options), object))
  }

  async #patch(): Promise<ApiResponse> {
    const {query, headers} = this.#call.request
    const options = writeOptions(query, 'PatchOptions')
    const result = await patch(this.#deps, this.#target(options), {
      contentType: headers['content-type'] ?? '',
      bytes: await this.#body(),
      options,
      typeName: this.#route.type,
      kind: this.#route.resource.kind,
    })
    return this.#written(result)
  }

  async #delete(): Promise<ApiResponse> {
    const options = deleteOptions(await this.#deleteBody(), this.#call.request.query)
    const dryRun = (options.dryRun ?? []).includes('All')
    const {resource} = this.#route
    const result = await remove(this.#deps, this.#target({dryRun, fieldManager: ''}), options)
    return this.#answer(
      200,
      result.lingers
        ? presentObject(this.#presentation(), result.json)
        : JSON.stringify(deletedStatus(resource, result.stored)),
    )
  }

  async #deleteCollection(): Promise<ApiResponse> {
    const {query, signal} = this.#call.request
    const options = deleteOptions(await this.#deleteBody(), query)
    const dryRun = (options.dryRun ?? []).includes('All')
    const page = await list(this.#deps.registry, this.#store, {
      options: listOptions(query, false),
      selection: this.#selection(),
      explainJson: (text) => jsonSyntaxFault(text) ?? 'unexpected value',
      timeout: undefined,
      signal,
    })
    await Promise.all(
      page.items.map(async ({namespace, name}) => {
        const target = this.#target({dryRun, fieldManager: ''}, {namespace, name})
        try {
          await remove(this.#deps, target, options)
        } catch (error) {
          // Somebody else was faster.
          if (!(error instanceof StatusError && error.code === 404)) throw error
        }
      }),
    )
    return this.#answer(200, presentList(this.#presentation(), page))
  }

  async #review(): Promise<ApiResponse> {
    const {resource} = this.#route
    if (this.#call.info.verb !== 'create') throw methodNotAllowed()
    negotiatePlain(this.#call.request.headers.accept)
    const options = writeOptions(this.#call.request.query, 'CreateOptions')
    const object = await this.#decode(this.#route.type, options)
    const context = this.#context(options.dryRun)
    const answer = await reviewed(resource, object, context, {
      shape: shapeOfVersion(resource, this.#route.type),
      manager: this.#manager(options),
      apiVersion: this.#apiVersion,
    })
    return this.#answer(201, JSON.stringify(answer))
  }

  get #apiVersion(): string {
    const {group, version} = this.#call.info
    return groupVersion({group, version})
  }

  #written({json, created}: WriteResult): ApiResponse {
    return this.#answer(created ? 201 : 200, presentObject(this.#presentation(), json))
  }

  #answer(status: number, body: string): ApiResponse {
    return {status, headers: JSON_HEADERS, body}
  }

  #presentation(): Presentation {
    const {headers, query} = this.#call.request
    return {
      resource: this.#route.resource,
      version: this.#call.info.version,
      representation: negotiate(headers.accept),
      include: includeObjectOf(query.get('includeObject')),
      now: () => this.#deps.clock.now(),
    }
  }

  #selection(): Selection {
    const {query} = this.#call.request
    const {resource} = this.#route
    const labels = parseLabelSelector(query.get('labelSelector') ?? '')
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource)
    const named = this.#call.info.named ? this.#call.info.name : undefined
    const exact = fields.terms.find(({field, equal}) => field === 'metadata.name' && equal)
    const valueOf = (stored: StoredObject, field: string) => {
      if (field === 'metadata.name') return stored.name
      if (field === 'metadata.namespace') return stored.namespace
      return stored.fields[resource.fieldAliases?.[field] ?? field] ?? ''
    }
    return {
      namespace: this.#namespace,
      name: named ?? exact?.value,
      everything: labels.empty && fields.empty && named === undefined,
      matches: (stored) =>
        (this.#namespace === '' || stored.namespace === this.#namespace) &&
        (named === undefined || stored.name === named) &&
        (labels.empty || labels.matches(stored.labels)) &&
        fields.terms.every(({field, value, equal}) => (valueOf(stored, field) === value) === equal),
    }
  }

  #target(
    options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>,
    object = {namespace: this.#namespace, name: this.#call.info.name},
  ): WriteTarget {
    return {
      store: this.#store,
      context: {...this.#context(options.dryRun), ...object},
      shape: shapeOfVersion(this.#route.resource, this.#route.type),
      apiVersion: this.#apiVersion,
      manager: this.#manager(options),
    }
  }

  #manager({fieldManager}: Pick<WriteOptions, 'fieldManager'>): string {
    if (fieldManager !== '') return fieldManager
    const [agent = ''] = (this.#call.request.headers['user-agent'] ?? '').split('/')
    return agent.slice(0, 128)
  }

  #context(dryRun: boolean): OperationContext {
    const {info, user} = this.#call
    return {
      user,
      clock: this.#deps.clock,
      namespace: this.#namespace,
      name: info.name,
      subresource: info.subresource,
      version: info.version,
      dryRun,
      authorize: this.#deps.authorize,
      objects: this.#deps.registry,
      warn: (text) => this.#warnings.push(text),
    }
  }

  async #body(): Promise<Uint8Array> {
    const {body} = this.#call.request
    return typeof body === 'function' ? body() : body
  }

  async #decode(type: string, options: WriteOptions): Promise<ApiObject> {
    return this.#decodeBytes(await this.#body(), type, options.fieldValidation)
  }

  async #decodeBytes(
    bytes: Uint8Array,
    type: string,
    fieldValidation: WriteOptions['fieldValidation'],
  ): Promise<ApiObject> {
    try {
      const {object, warnings} = await decodeBody({
        bytes,
        contentType: this.#call.request.headers['content-type'],
        type,
        fieldValidation,
        custom: this.#route.resource.custom === true,
      })
      this.#warnings.push(...warnings)
      return object
    } catch (error) {
      throw error instanceof DecodeError ? toStatus(error) : error
    }
  }

  async #deleteBody(): Promise<DeleteOptions> {
    const bytes = await this.#body()
    if (bytes.length === 0) return {}
    return (await this.#decodeBytes(bytes, 'meta/v1.DeleteOptions', 'Ignore')) as DeleteOptions
  }
}

const toStatus = ({kind, message}: DecodeError) =>
  kind === 'badRequest' ? badRequest(message) : unsupportedMediaType(message)
