import type {ApiList, ApiObject, HeldObject} from '../api/meta.ts'
import {hasCode} from '../errors.ts'
import type {ApiCaller} from './api-call.ts'
import {collectionPath, queryOf, selectQuery} from './resource-path.ts'
import {EncodedObject} from './encoded-object.ts'
import type {ListOptions, ResourceType} from './resource-client.ts'
import {fromForeignAnswer} from './status-errors.ts'

const PAGE_SIZE = 500

/** Reads a list page by page. If its version expires in between, reads it again in one request, as client-go's pager does. */
export async function listPages<T extends ApiObject>(
  caller: ApiCaller,
  type: ResourceType,
  options: ListOptions<T>,
): Promise<ApiList<T>> {
  const {pageSize: limit = PAGE_SIZE, resourceVersion, onPage, onHeldPage} = options
  let items: T[] = []
  const take = async (page: ListPage<T>, isFirst: boolean) => {
    if (isFirst) items = []
    if (onHeldPage)
      onHeldPage(page.held ?? page.items.map((item) => new EncodedObject(item)), isFirst)
    else if (onPage) await onPage(page.items, isFirst)
    else for (const item of page.items) items.push(item)
  }
  let first = await readPage<T>(caller, type, options, {limit, resourceVersion})
  await take(first, true)
  let next = first.metadata.continue
  while (next) {
    try {
      const page: ListPage<T> = await readPage<T>(caller, type, options, {limit, continue: next})
      await take(page, false)
      next = page.metadata.continue
    } catch (error) {
      if (!hasCode(error, 'EXPIRED')) throw error
      first = await readPage<T>(caller, type, options, {resourceVersion})
      await take(first, true)
      break
    }
  }
  const {resourceVersion: version} = first.metadata
  const {apiVersion, kind} = first
  return {
    apiVersion,
    kind,
    metadata: version === undefined ? {} : {resourceVersion: version},
    items,
  }
}

interface ListPage<T> extends ApiList<T> {
  /** In place of the items, from a server in the same process. */
  held?: HeldObject<T>[]
}

async function readPage<T extends ApiObject>(
  caller: ApiCaller,
  type: ResourceType,
  options: ListOptions<T>,
  page: {limit?: number; continue?: string; resourceVersion?: string | undefined},
): Promise<ListPage<T>> {
  const answer = await caller.json({
    method: 'GET',
    ownCopy: options.onHeldPage === undefined,
    path: collectionPath(type, options.namespace),
    query: queryOf({...selectQuery(options), ...page}),
    signal: options.signal,
  })
  const list = answer as Partial<ListPage<T>>
  if (!list.kind?.endsWith('List')) throw fromForeignAnswer(200)
  const kind = list.kind.slice(0, -'List'.length)
  const {apiVersion = '', metadata = {}} = list
  // Items of a list have no kind and apiVersion; the rest of the program expects them.
  const items = (list.items ?? []).map((item) => ({apiVersion, kind, ...item}))
  return {apiVersion, kind: list.kind, metadata, items, ...(list.held && {held: list.held})}
}
