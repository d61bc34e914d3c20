import {hasCode} from '../../errors.ts'
import type {Pause} from '../limits/turns.ts'
import {badRequest, expired, tooLarge, type StatusError} from '../kernel/status.ts'
import {decodeContinue, encodeContinue, NEWEST, type Selection} from './selection.ts'
import {catchUp, reach, reachRead, type Waiting} from './freshness.ts'
import type {ListOptions} from './options.ts'
import type {Registry} from './registry.ts'
import type {ResourceStore} from './resource-store.ts'
import type {StoredObject} from './stored-object.ts'

export interface Page {
  items: StoredObject[]
  /** The revision of the whole list, which is that of its first page. */
  revision: number
  continue?: string
  remaining?: number
}

/** How many objects are read from history at a time. */
const CHUNK = 500
/** A page ends once its texts are this long, even with fewer objects than requested: its reader parses the whole page. */
const PAGE_BYTES = 1024 * 1024
/** The most that is read from history for a list without pages; lists from memory have no such limit. */
const HISTORY_BYTES = 64 * 1024 * 1024

export interface ListRequest {
  options: ListOptions
  selection: Selection
  /** Describes a JSON error as Go does. */
  explainJson: (text: Buffer) => string
  waiting: Waiting
  /** The more is stored, the longer it takes to look for a selection. */
  pause: Pause
}

/** As kube-apiserver lists: the newest state, one not older than a revision, exactly that of one, or a list's next page. */
export async function list(
  registry: Registry,
  store: ResourceStore,
  request: ListRequest,
): Promise<Page> {
  const {options, selection, waiting, pause} = request
  const {limit} = options
  if (options.continue !== '') {
    if (options.resourceVersion !== '' && options.resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue')
    const {revision, after} = decodeContinue(options.continue, request.explainJson)
    if (revision === NEWEST) {
      await catchUp(registry, waiting)
      await makeSelectable(store, selection, pause)
      return memoryPage(store, {selection, limit, revision: registry.revision, after})
    }
    await reach(registry, revision, waiting)
    return pageAt(registry, store, {selection, limit, revision, after}, pause)
  }
  const wanted = await reachRead(registry, options.resourceVersion, waiting, (message) =>
    badRequest(`invalid resource version: ${message}`),
  )
  if (isExact(store, request, wanted))
    return pageAt(registry, store, {selection, limit, revision: wanted, after: ''}, pause)
  await makeSelectable(store, selection, pause)
  return memoryPage(store, {selection, limit, revision: registry.revision, after: ''})
}

/** Without a match, pages of a revision are exactly of that one, unless it is the list of one name: Kubernetes' rule before there was a match. */
function isExact(
  store: ResourceStore,
  {options: {resourceVersionMatch, limit}, selection}: ListRequest,
  revision: number,
): boolean {
  if (resourceVersionMatch !== '') return resourceVersionMatch === 'Exact'
  return limit > 0 && revision > 0 && !isOfOne(store, selection)
}

const isOfOne = ({resource}: ResourceStore, {name, namespace}: Selection) =>
  name !== undefined && (namespace !== '' || !resource.namespaced)

/** Every selected object after a key, from memory. */
export function selected(
  store: ResourceStore,
  selection: Selection,
  after: string,
): Iterable<StoredObject> {
  const {namespace, name} = selection
  if (name !== undefined && isOfOne(store, selection)) {
    const one = store.get(namespace, name)
    return one === undefined || one.key <= after ? [] : [one]
  }
  return store.range(namespace, after)
}

/** Parses what has never been selected from, piece by piece: afterwards memory is searched in one step, which is one state of it. */
export async function makeSelectable(
  store: ResourceStore,
  selection: Selection,
  pause: Pause,
): Promise<void> {
  if (!selection.needsContent) return
  const unread = [...selected(store, selection, '')].filter(({isSelectable}) => !isSelectable)
  for (const stored of unread) {
    selection.matches(stored)
    await pause()
  }
}

function memoryPage(store: ResourceStore, position: Position): Page {
  const {selection, after} = position
  const page = new PageBuilder(position)
  for (const stored of selected(store, selection, after)) {
    if (page.take(stored)) continue
    // With a selector the remaining objects are not counted; it is only known that there are some.
    return selection.everything
      ? page.continued(store.count(selection.namespace, page.last))
      : page.continued()
  }
  return page.whole()
}

/** Takes objects in order until the page is full. */
class PageBuilder {
  readonly #position: Position
  readonly #items: StoredObject[] = []
  #bytes = 0

  constructor(position: Position) {
    this.#position = position
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The key of the last object on the page. */
  get last(): string {
    return this.#items.at(-1)?.key ?? ''
  }

  /** Returns false for a selected object that does not fit: it is the first of the next page. */
  take(stored: StoredObject): boolean {
    const {selection, limit} = this.#position
    if (!selection.everything && !selection.matches(stored)) return true
    if (limit > 0 && (this.#items.length === limit || this.#bytes >= PAGE_BYTES)) return false
    this.#items.push(stored)
    this.#bytes += stored.json.length
    return true
  }

  whole(): Page {
    return {items: this.#items, revision: this.#position.revision}
  }

  continued(remaining?: number): Page {
    return continued(this.#items, this.#position.revision, remaining)
  }
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

/** A page of a past state: from memory if nothing has changed since, else from the store's history. */
async function pageAt(
  registry: Registry,
  store: ResourceStore,
  position: Position,
  pause: Pause,
): Promise<Page> {
  const {selection, revision, after, limit} = position
  if (store.log.positionAfter(revision) === store.log.end) {
    await makeSelectable(store, selection, pause)
    if (store.log.positionAfter(revision) === store.log.end) return memoryPage(store, position)
  }
  try {
    if (selection.everything && limit > 0) return await countedPage(registry, store, position)
    return (
      (await namedPage(registry, store, position)) ??
      (await searchedPage(registry, store, position, pause))
    )
  } catch (error) {
    throw hasCode(error, 'STORE_COMPACTED') ? forgotten(after) : error
  }
}

function readHistory(
  {storage}: Registry,
  store: ResourceStore,
  {selection: {namespace}, revision, after}: Position,
  most: {limit?: number; bytes: number},
) {
  return storage.list(namespace === '' ? store.prefix : `${store.prefix}${namespace}/`, {
    revision,
    ...most,
    ...(after === '' ? {} : {after: store.prefix + after}),
  })
}

async function countedPage(
  registry: Registry,
  store: ResourceStore,
  position: Position,
): Promise<Page> {
  const {revision, limit} = position
  const most = {limit, bytes: PAGE_BYTES}
  const {entries, remaining} = await readHistory(registry, store, position, most)
  const items = entries.flatMap((entry) => store.objectOf(entry) ?? [])
  return remaining === 0 ? {items, revision} : continued(items, revision, remaining)
}

/** The one object that a selection names; undefined if it names none. */
async function namedPage(
  {storage}: Registry,
  store: ResourceStore,
  {selection, revision, after}: Position,
): Promise<Page | undefined> {
  const {namespace, name} = selection
  if (name === undefined || (namespace === '' && store.resource.namespaced)) return undefined
  const key = store.storageKey(namespace, name)
  // Others whose keys begin with this one come after it.
  const {entries} = await storage.list(key, {revision, limit: 1})
  const [entry] = entries
  const stored = entry?.key === key ? store.objectOf(entry) : undefined
  const isSelected = stored !== undefined && stored.key > after && selection.matches(stored)
  return {items: isSelected ? [stored] : [], revision}
}

/** With a selector the end of a page is not known in advance: history is read until the page is full. */
async function searchedPage(
  registry: Registry,
  store: ResourceStore,
  position: Position,
  pause: Pause,
): Promise<Page> {
  const page = new PageBuilder(position)
  const most = {limit: CHUNK, bytes: PAGE_BYTES}
  let {after} = position
  for (;;) {
    const {entries, remaining} = await readHistory(registry, store, {...position, after}, most)
    for (const entry of entries) {
      const stored = store.objectOf(entry)
      if (stored !== undefined && !page.take(stored)) return page.continued()
      after = entry.key.slice(store.prefix.length)
      await pause()
    }
    if (remaining === 0) return page.whole()
    if (page.bytes > HISTORY_BYTES) throw tooLong(store)
  }
}

const tooLong = ({resource: {plural}}: ResourceStore) =>
  tooLarge(
    `the list of ${plural} at a past revision is too long for one answer: ask for pages with "limit", or for the newest state`,
  )

/** A list that has begun may continue with the current state. A list of a revision that is gone fails. */
function forgotten(after: string): StatusError {
  if (after === '') return expired('The resourceVersion for the provided list is too old.')
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata.continue = encodeContinue({revision: NEWEST, after})
  return error
}
