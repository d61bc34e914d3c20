import {hasCode} from '../../errors.ts'
import {badRequest, expired, type StatusError} from '../status.ts'
import {decodeContinue, encodeContinue, NEWEST} from './continue-token.ts'
import {reach} from './freshness.ts'
import {parseResourceVersion, type ListOptions} from './options.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import type {Selection} from './selection.ts'
import {fromEntry, type StoredObject} from './stored-object.ts'

export interface Page {
  items: StoredObject[]
  /** The revision that the whole list is of, its first page's. */
  revision: number
  continue?: string
  remaining?: number
}

/** So many objects are read from history at a time. */
const CHUNK = 500

export interface ListRequest {
  options: ListOptions
  selection: Selection
  /** Words a JSON error as Go does. */
  explainJson: (text: Buffer) => string
  timeout: number | undefined
  signal: AbortSignal
}

/** As kube-apiserver lists: the newest state, one not older than a revision, exactly that of one, or a list's next page. */
export async function list(
  registry: Registry,
  store: ResourceStore,
  request: ListRequest,
): Promise<Page> {
  const {options, selection} = request
  const {limit} = options
  if (options.continue !== '') {
    if (options.resourceVersion !== '' && options.resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue')
    const {revision, after} = decodeContinue(options.continue, request.explainJson)
    if (revision === NEWEST)
      return memoryPage(store, {selection, limit, revision: registry.revision, after})
    await reach(registry, revision, request)
    return pageAt(registry, store, {selection, limit, revision, after})
  }
  const wanted = parseResourceVersion(options.resourceVersion, (message) =>
    badRequest(`invalid resource version: ${message}`),
  )
  await reach(registry, wanted, request)
  if (options.resourceVersionMatch === 'Exact')
    return pageAt(registry, store, {selection, limit, revision: wanted, after: ''})
  return memoryPage(store, {selection, limit, revision: registry.revision, after: ''})
}

/** Every object that is selected, after a key, from memory. */
export function selected(
  store: ResourceStore,
  selection: Selection,
  after: string,
): Iterable<StoredObject> {
  const {namespace, name} = selection
  if (name !== undefined && (namespace !== '' || !store.resource.namespaced)) {
    const one = store.get(namespace, name)
    return one === undefined || one.key <= after ? [] : [one]
  }
  return store.range(namespace, after)
}

function memoryPage(store: ResourceStore, position: Position): Page {
  const {selection, after} = position
  const page = pageOf(selected(store, selection, after), position)
  const last = page.items.at(-1)
  // Behind a selector the rest is not counted, only known to be there.
  if (page.continue === undefined || last === undefined || !selection.everything) return page
  return {...page, remaining: store.count(selection.namespace, last.key)}
}

function pageOf(objects: Iterable<StoredObject>, {selection, limit, revision}: Position): Page {
  const items: StoredObject[] = []
  for (const stored of objects) {
    if (!selection.everything && !selection.matches(stored)) continue
    if (limit > 0 && items.length === limit) return continued(items, revision)
    items.push(stored)
  }
  return {items, revision}
}

/** A page that others follow. */
function continued(items: StoredObject[], revision: number, remaining?: number): Page {
  const after = items.at(-1)?.key ?? ''
  return {
    items,
    revision,
    continue: encodeContinue({revision, after}),
    ...(remaining === undefined ? {} : {remaining}),
  }
}

interface Position {
  selection: Selection
  limit: number
  revision: number
  after: string
}

/** A page of the state as it was: from memory where nothing has changed since, else from the store's history. */
async function pageAt(registry: Registry, store: ResourceStore, position: Position): Promise<Page> {
  const {selection, revision, after} = position
  if (store.log.positionAfter(revision) === store.log.end) return memoryPage(store, position)
  try {
    return selection.everything
      ? await countedPage(registry, store, position)
      : await searchedPage(registry, store, position)
  } catch (error) {
    throw hasCode(error, 'STORE_COMPACTED') ? forgotten(after) : error
  }
}

function readHistory(
  {storage}: Registry,
  store: ResourceStore,
  {selection: {namespace}, revision, after}: Position,
  limit: number,
) {
  return storage.list(namespace === '' ? store.prefix : `${store.prefix}${namespace}/`, {
    revision,
    ...(limit === 0 ? {} : {limit}),
    ...(after === '' ? {} : {after: store.prefix + after}),
  })
}

async function countedPage(
  registry: Registry,
  store: ResourceStore,
  position: Position,
): Promise<Page> {
  const {entries, remaining} = await readHistory(registry, store, position, position.limit)
  const items = entries.map((entry) => fromEntry(store.resource, entry, store.prefix))
  const {revision} = position
  return remaining === 0 ? {items, revision} : continued(items, revision, remaining)
}

/** Behind a selector nobody knows where a page ends: history is read until it is full. */
async function searchedPage(
  registry: Registry,
  store: ResourceStore,
  position: Position,
): Promise<Page> {
  const {selection, limit} = position
  const found: StoredObject[] = []
  let {after} = position
  for (;;) {
    const {entries, remaining} = await readHistory(registry, store, {...position, after}, CHUNK)
    const objects = entries.map((entry) => fromEntry(store.resource, entry, store.prefix))
    found.push(...objects.filter(selection.matches))
    if (remaining === 0 || (limit > 0 && found.length > limit)) return pageOf(found, position)
    after = objects.at(-1)?.key ?? after
  }
}

/** A list that was begun may go on with what is there now; one of a revision that is gone cannot be had. */
function forgotten(after: string): StatusError {
  if (after === '') return expired('The resourceVersion for the provided list is too old.')
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata.continue = encodeContinue({revision: NEWEST, after})
  return error
}
