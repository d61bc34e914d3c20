import {setImmediate as nextTurn} from 'node:timers/promises'
import type {ApiObject, ListMeta, WatchEventType} from '../../api/meta.ts'
import type {ApiResponse} from '../kernel/api-request.ts'
import {groupVersion, type Resource} from '../kernel/resource.ts'
import type {StatusError} from '../kernel/status.ts'
import type {Representation} from '../table/negotiate.ts'
import {
  type IncludeObject,
  partialItem,
  partialList,
  partialObject,
  requirePartialFits,
  tableOfEvent,
  tableOfList,
  tableOfObject,
  type TableOptions,
  tableRow,
} from '../table/table.ts'
import type {Page} from './list.ts'
import {type StoredObject, withKind} from './stored-object.ts'
import {bookmarkObject, type EventForm} from './watch-frames.ts'

/** How responses to one request are encoded. */
export interface Presentation {
  resource: Resource
  /** The served version. */
  version: string
  representation: Representation
  include: IncludeObject
  now: () => Date
}

/** A resource in one of the versions that it is served in. */
type Served = Pick<Presentation, 'resource' | 'version'>

const apiVersionOf = ({resource: {group}, version}: Served) => groupVersion({group, version})

const tableOptions = (presentation: Presentation): TableOptions => ({
  version: presentation.representation.as === 'table' ? presentation.representation.version : 'v1',
  include: presentation.include,
  now: presentation.now(),
  objectVersion: presentation.version,
})

const objectOf = (json: string) => JSON.parse(json) as ApiObject

/** One object. */
export function presentObject(presentation: Presentation, json: string): string {
  const {resource, representation} = presentation
  switch (representation.as) {
    case 'object':
      return withKind(json, resource.kind, apiVersionOf(presentation))
    case 'table':
      return JSON.stringify(tableOfObject(resource, objectOf(json), tableOptions(presentation)))
    case 'partial':
      requirePartialFits(representation.list, false)
      return JSON.stringify(partialObject(objectOf(json), representation.version))
  }
}

/** The metadata of a page. */
export const listMeta = (page: Page): ListMeta => ({
  resourceVersion: String(page.revision),
  ...(page.continue === undefined ? {} : {continue: page.continue}),
  ...(page.remaining === undefined ? {} : {remainingItemCount: page.remaining}),
})

/** A page of a list, item by item: the stored texts are sent unchanged. */
export function* presentList(presentation: Presentation, page: Page): Generator<string> {
  const {resource, representation} = presentation
  const metadata = listMeta(page)
  switch (representation.as) {
    case 'object': {
      const head = {kind: `${resource.kind}List`, apiVersion: apiVersionOf(presentation), metadata}
      yield* listText(head, 'items', page, (json) => json)
      return
    }
    case 'table': {
      const options = tableOptions(presentation)
      const head = tableOfList(resource, {metadata, items: []}, options)
      yield* listText(head, 'rows', page, (json) =>
        JSON.stringify(tableRow(resource, objectOf(json), options)),
      )
      return
    }
    case 'partial': {
      requirePartialFits(representation.list, true)
      yield* listText(partialList({metadata, items: []}, representation), 'items', page, (json) =>
        JSON.stringify(partialItem(objectOf(json), representation)),
      )
    }
  }
}

/** A list whose items are encoded one by one: all of them as objects could need too much memory. */
function* listText(
  head: object,
  field: 'items' | 'rows',
  {items}: Page,
  textOf: (json: string) => string,
): Generator<string> {
  yield `${JSON.stringify({...head, [field]: undefined}).slice(0, -1)},"${field}":[`
  for (const [index, {json}] of items.entries())
    yield index === 0 ? textOf(json) : `,${textOf(json)}`
  yield ']}'
}

const frame = (type: WatchEventType, object: string) => `{"type":"${type}","object":${object}}\n`

const TEXT = {
  error: ({status}: StatusError) => frame('ERROR', JSON.stringify(status)),
  join: (frames: string[]) => frames.join(''),
}

const bookmarkOf = (served: Served, ...at: Parameters<typeof bookmarkObject>): ApiObject => ({
  kind: served.resource.kind,
  apiVersion: apiVersionOf(served),
  ...bookmarkObject(...at),
})

const objectForms = new WeakMap<Resource, Map<string, EventForm>>()

/** Plain objects are the same to everybody: thousands of watches share one form. */
function objectForm(resource: Resource, version: string): EventForm {
  const forms = objectForms.get(resource) ?? new Map<string, EventForm>()
  objectForms.set(resource, forms)
  const served = {resource, version}
  const apiVersion = apiVersionOf(served)
  const form = forms.get(version) ?? {
    id: `object ${version}`,
    frame: (type, {json}) => frame(type, withKind(json, resource.kind, apiVersion)),
    ...TEXT,
    bookmark: (...at) => frame('BOOKMARK', JSON.stringify(bookmarkOf(served, ...at))),
  }
  forms.set(version, form)
  return form
}

/** The events of a watch, as text. */
export function eventForm(presentation: Presentation): EventForm {
  const {resource, version, representation} = presentation
  switch (representation.as) {
    case 'object':
      return objectForm(resource, version)
    case 'partial': {
      const metaVersion = representation.version
      const partial = (object: ApiObject) => JSON.stringify(partialObject(object, metaVersion))
      return {
        id: `partial ${metaVersion}`,
        frame: (type, {json}) => frame(type, partial(objectOf(json))),
        ...TEXT,
        bookmark: (...at) => frame('BOOKMARK', partial(bookmarkOf(presentation, ...at))),
      }
    }
    case 'table': {
      const table = (object: ApiObject, first: boolean) =>
        JSON.stringify(tableOfEvent(resource, object, first, tableOptions(presentation)))
      const at =
        (first: boolean) =>
        (type: WatchEventType, {json}: StoredObject) =>
          frame(type, table(objectOf(json), first))
      return {
        id: `table ${representation.version} ${presentation.include} ${version}`,
        frame: at(false),
        firstFrame: at(true),
        ...TEXT,
        bookmark: (...position) =>
          frame('BOOKMARK', table(bookmarkOf(presentation, ...position), false)),
      }
    }
  }
}

/** Responses up to this size are one text, with their length in a header. */
const WHOLE = 1024 * 1024
const PIECE = 256 * 1024

/** The body of a response from its parts: one text if it is short, else built piece by piece as it is read. */
export function listBody(parts: Iterator<string>): Pick<ApiResponse, 'body' | 'finite'> {
  const first = gather(parts, WHOLE)
  return first.done ? {body: first.text} : {body: pieces(first.text, parts), finite: true}
}

function gather(parts: Iterator<string>, length: number): {text: string; done: boolean} {
  let text = ''
  while (text.length < length) {
    const part = parts.next()
    if (part.done === true) return {text, done: true}
    text += part.value
  }
  return {text, done: false}
}

async function* pieces(first: string, parts: Iterator<string>): AsyncGenerator<string> {
  yield first
  for (;;) {
    // Other work gets its turn, even if the reader takes every piece at once.
    await nextTurn()
    const {text, done} = gather(parts, PIECE)
    if (text !== '') yield text
    if (done) return
  }
}

/** As kube-apiserver: if all warnings of a response together are longer than this, each is cut and the last are left out. */
const MOST_TOGETHER = 4096
const MOST_OF_ONE = 256

/** The values of a response's Warning headers. */
export function warningHeaders(texts: readonly string[]): string[] {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= MOST_TOGETHER) return texts.map(warningHeader)
  return texts
    .slice(0, MOST_TOGETHER / MOST_OF_ONE)
    .map((text) => warningHeader(text.slice(0, MOST_OF_ONE)))
}

/** As RFC 7234; what a header cannot carry is left out. */
const warningHeader = (text: string) =>
  `299 - "${text.replaceAll(/[^\t\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`
