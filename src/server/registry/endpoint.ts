import type {ApiObject} from '../../api/meta.ts'
import {PAGE_NOT_FOUND, type ApiResponse} from '../kernel/api-request.ts'
import {jsonSyntaxFault} from '../codec/json-syntax.ts'
import type {Verb} from '../kernel/resource.ts'
import {methodNotAllowed, StatusError} from '../kernel/status.ts'
import {negotiatePlain} from '../table/negotiate.ts'
import {create, refuseResourceVersion, reviewed} from './create.ts'
import {deletedStatus, deleteOptions, remove} from './delete.ts'
import {catchUp, reachRead} from './freshness.ts'
import {list, makeSelectable, type Page} from './list.ts'
import {
  eventForm,
  listBody,
  listMeta,
  presentList,
  presentObject,
  warningHeaders,
} from './present.ts'
import {listOptions, writeOptions} from './options.ts'
import {patch} from './patch.ts'
import {ResourceScope, type EndpointDeps, type ResourceCall} from './resource-scope.ts'
import {parse, type StoredObject} from './stored-object.ts'
import {replace, update} from './update.ts'
import {sendsInitialState, startWatch} from './watch.ts'
import {HELD_EVENTS, type EventForm} from './watch-frames.ts'
import {shapeOfVersion, unchanged, type WriteResult} from './write.ts'

export type {EndpointDeps, ResourceCall} from './resource-scope.ts'

const JSON_HEADERS = {'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private'}

/** Deletions of a collection that share a commit; each holds its object in memory. */
const DELETED_TOGETHER = 256

/** Serves the verbs of every resource of the table. */
export function createResourceEndpoint(deps: EndpointDeps) {
  return async (call: ResourceCall): Promise<ApiResponse> => {
    if (!deps.routes.hasGroup(call.info.group)) return PAGE_NOT_FOUND
    const scope = new ResourceScope(deps, call, deps.routes.find(call.info))
    const verb = call.info.verb as Verb
    // As in Kubernetes, HEAD is authorized like GET but then not served.
    if (!Object.hasOwn(VERBS, verb) || call.request.method === 'HEAD') throw methodNotAllowed()
    const answer = await (scope.resource.review === undefined ? VERBS[verb] : review)(scope)
    if (scope.warnings.length === 0) return answer
    return {...answer, headers: {...answer.headers, Warning: warningHeaders(scope.warnings)}}
  }
}

const VERBS: Record<Verb, (scope: ResourceScope) => ApiResponse | Promise<ApiResponse>> = {
  async get(scope) {
    const wanted = scope.query.get('resourceVersion') ?? ''
    const fail = (message: string) => new StatusError(500, undefined, message)
    await reachRead(scope.deps.registry, wanted, scope.waiting, fail)
    if (scope.takesObjects) return written(scope, unchanged(scope.stored()))
    return answer(200, presentObject(scope.presentation(), scope.stored().json))
  },

  async list(scope) {
    if (scope.takesObjects) return given(200, heldList(scope, await selected(scope)))
    const presentation = scope.presentation()
    return {
      status: 200,
      headers: JSON_HEADERS,
      ...listBody(presentList(presentation, await selected(scope))),
    }
  },

  async watch(scope) {
    const {method, signal} = scope.call.request
    const {registry} = scope.deps
    // On the old watch paths every method is a watch.
    if (method !== 'GET') throw methodNotAllowed()
    const options = listOptions(scope.query, true)
    if (options.resourceVersion === '') await catchUp(registry, {signal})
    const {random} = scope.deps
    const selection = scope.selection()
    const watch = <Frame, Piece>(form: EventForm<Frame, Piece>) =>
      startWatch(registry, scope.store, {options, selection, form, signal, random})
    if (sendsInitialState(options)) await makeSelectable(scope.store, selection, scope.pauses())
    if (scope.call.request.takesObjects === true)
      return {status: 200, headers: JSON_HEADERS, body: '', events: watch(HELD_EVENTS)}
    const body = watch(eventForm(scope.presentation()))
    return {status: 200, headers: JSON_HEADERS, body}
  },

  async create(scope) {
    if (scope.route.subresource !== undefined) return createSubresource(scope)
    const options = writeOptions(scope.query, 'CreateOptions')
    const object = await scope.decode(options)
    scope.route.defaults?.(object)
    refuseResourceVersion(object)
    return written(scope, await create(scope.deps, scope.target(options), object))
  },

  async update(scope) {
    const options = writeOptions(scope.query, 'UpdateOptions')
    const object = await scope.decode(options)
    scope.route.defaults?.(object)
    return written(scope, await replace(scope.deps, scope.target(options), object))
  },

  async patch(scope) {
    const options = writeOptions(scope.query, 'PatchOptions')
    const bytes = await scope.body()
    const result = await patch(scope.deps, scope.target(options), {
      contentType: scope.call.request.headers['content-type'] ?? '',
      bytes,
      options,
      typeName: scope.route.type,
      kind: scope.resource.kind,
      ...(scope.route.defaults === undefined ? {} : {defaults: scope.route.defaults}),
    })
    return written(scope, result)
  },

  async delete(scope) {
    const options = deleteOptions(await scope.deleteBody(), scope.query)
    const dryRun = (options.dryRun ?? []).includes('All')
    const result = await remove(scope.deps, scope.target({dryRun, fieldManager: ''}), options)
    return answer(
      200,
      result.lingers
        ? presentObject(scope.presentation(), result.json)
        : JSON.stringify(deletedStatus(scope.resource, result.stored)),
    )
  },

  async deletecollection(scope) {
    const options = deleteOptions(await scope.deleteBody(), scope.query)
    const dryRun = (options.dryRun ?? []).includes('All')
    const page = await selected(scope)
    const removeOne = async ({namespace, name}: StoredObject) => {
      const target = scope.target({dryRun, fieldManager: ''}, {namespace, name})
      try {
        await remove(scope.deps, target, options)
      } catch (error) {
        // Already deleted by somebody else.
        if (!(error instanceof StatusError && error.code === 404)) throw error
      }
    }
    for (let at = 0; at < page.items.length; at += DELETED_TOGETHER)
      await Promise.all(page.items.slice(at, at + DELETED_TOGETHER).map(removeOne))
    return {
      status: 200,
      headers: JSON_HEADERS,
      ...listBody(presentList(scope.presentation(), page)),
    }
  },
}

/** An action on an object, such as a token request. */
async function createSubresource(scope: ResourceScope): Promise<ApiResponse> {
  const {resource, route, deps} = scope
  const {subresource} = route
  if (subresource?.create === undefined) throw methodNotAllowed()
  const act = subresource.create
  const {name, subresource: path} = scope.call.info
  const options = writeOptions(scope.query, 'CreateOptions')
  const body = await scope.decode(options, subresource.kind?.type)
  const old = parse(scope.stored())
  const context = scope.context(options.dryRun)
  await deps.admit({verb: 'create', resource, subresource: path, name, object: body, old}, context)
  let result: ApiObject | undefined
  if (subresource.stores === true) {
    await update(deps, scope.target(options), async (read) => {
      const object = read()
      // Such an action is not tracked: nobody owns the fields that it sets.
      const {managedFields} = object.metadata
      result = await act(body, object, context)
      return {object, managedFields}
    })
  } else {
    result = await act(body, old, context)
    await scope.call.requireStillAllowed()
    scope.call.hasWritten()
  }
  return answer(201, JSON.stringify(result))
}

async function review(scope: ResourceScope): Promise<ApiResponse> {
  const {resource, route} = scope
  if (scope.call.info.verb !== 'create') throw methodNotAllowed()
  negotiatePlain(scope.call.request.headers.accept)
  const options = writeOptions(scope.query, 'CreateOptions')
  const object = await scope.decode(options)
  const result = await reviewed(resource, object, scope.context(options.dryRun), {
    shape: shapeOfVersion(resource, route.type),
    manager: scope.manager(options),
    apiVersion: scope.apiVersion,
  })
  await scope.call.requireStillAllowed()
  if (scope.takesObjects) return given(201, result)
  return answer(201, JSON.stringify(result))
}

/** The page of objects that the query asks for. */
async function selected(scope: ResourceScope): Promise<Page> {
  return list(scope.deps.registry, scope.store, {
    options: listOptions(scope.query, false),
    selection: scope.selection(),
    explainJson: (text) => jsonSyntaxFault(text) ?? 'unexpected value',
    waiting: scope.waiting,
    pause: scope.pauses(),
  })
}

function written(scope: ResourceScope, {json, created}: WriteResult): ApiResponse {
  const status = created ? 201 : 200
  if (!scope.takesObjects) return answer(status, presentObject(scope.presentation(), json))
  const {kind} = scope.resource
  return given(status, {kind, apiVersion: scope.apiVersion, ...(JSON.parse(json) as object)})
}

/** A page of a list for a caller in the same process. */
const heldList = (scope: ResourceScope, page: Page) => ({
  kind: `${scope.resource.kind}List`,
  apiVersion: scope.apiVersion,
  metadata: listMeta(page),
  held: page.items,
})

const given = (status: number, value: object): ApiResponse => ({
  status,
  headers: JSON_HEADERS,
  body: '',
  value,
})

const answer = (status: number, body: string): ApiResponse => ({
  status,
  headers: JSON_HEADERS,
  body,
})
