import type {ApiObject, HeldObject} from '../../api/meta.ts'
import type {Entry} from '../../storage/storage.ts'
import {groupVersion, type Resource} from '../kernel/resource.ts'
import {MOST_ENTRIES} from '../validation/metadata.ts'

const HEAD = '{"metadata":{'

/** One object in memory: its JSON text, ready to be sent, and what selectors need. */
export class StoredObject implements HeldObject {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** The object as JSON with its resourceVersion, without kind and apiVersion: as in a list. */
  readonly json: string
  readonly #resource: Resource
  #selectable: Selectable | undefined
  /** Parsed once for all readers at about the same time, and then released. */
  #object: WeakRef<ApiObject> | undefined

  constructor(resource: Resource, key: string, revision: number, json: string) {
    const slash = resource.namespaced ? key.indexOf('/') : -1
    this.#resource = resource
    this.key = key
    this.namespace = slash === -1 ? '' : key.slice(0, slash)
    this.name = key.slice(slash + 1)
    this.revision = revision
    this.json = json
  }

  get resourceVersion(): string {
    return String(this.revision)
  }

  get uid(): string | undefined {
    return this.object.metadata.uid
  }

  /** Shared by all readers and frozen; with kind and apiVersion. */
  get object(): ApiObject {
    const shared = this.#object?.deref()
    if (shared !== undefined) return shared
    const {kind} = this.#resource
    const object = frozen({kind, apiVersion: groupVersion(this.#resource), ...parse(this)})
    this.#object = new WeakRef(object)
    return object
  }

  /** Whether `labels` and `fields` cost nothing. */
  get isSelectable(): boolean {
    return this.#selectable !== undefined
  }

  get labels(): Record<string, string> {
    return this.#select().labels ?? labelsOf(this.object)
  }

  /** The values of the fields that a fieldSelector may name. */
  get fields(): Record<string, string> {
    return this.#select().fields
  }

  /** The deleted object as the watch shows it: its last state with the deletion's revision. */
  atRevision(revision: number): StoredObject {
    const json = this.json.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${revision}"`)
    return new StoredObject(this.#resource, this.key, revision, json)
  }

  /** Most objects are never selected by labels or fields, so the text is parsed only when one is. */
  #select(): Selectable {
    this.#selectable ??= selectableOf(this.#resource, this.object)
    return this.#selectable
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

interface Selectable {
  /** Undefined if there are too many to keep beside the text: older versions had no limit. */
  labels: Record<string, string> | undefined
  fields: Record<string, string>
}

const labelsOf = ({metadata}: ApiObject) => metadata.labels ?? {}

function selectableOf({fields: readers = {}}: Resource, object: ApiObject): Selectable {
  const fields: Record<string, string> = {}
  for (const [name, read] of Object.entries(readers)) fields[name] = read(object)
  const labels = labelsOf(object)
  return {labels: Object.keys(labels).length <= MOST_ENTRIES ? labels : undefined, fields}
}

/**
 * The bytes that are stored: no kind and apiVersion, which depend on the served version, and no resourceVersion, which the
 * store gives. Metadata comes first, so that the resourceVersion can be put into the text without parsing it.
 */
export function toStored(object: ApiObject): string {
  const {kind: _kind, apiVersion: _apiVersion, metadata, ...rest} = object
  const {resourceVersion: _resourceVersion, ...kept} = metadata
  return JSON.stringify({metadata: kept, ...rest})
}

/** Stored text with its resourceVersion. */
export const jsonAt = (text: string, revision: number) =>
  `${HEAD}"resourceVersion":"${revision}",${text.slice(HEAD.length)}`

const decoder = new TextDecoder()

const textOf = (entry: Entry) => decoder.decode(entry.value)

/** Whether stored bytes are what `toStored` makes. Looks at both ends only: the store has checksums. */
export function isReadable({value}: Entry): boolean {
  const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, HEAD.length))
  return head.toString('latin1') === HEAD && value.at(-1) === 0x7d
}

/** From the store into memory. */
export const fromEntry = (resource: Resource, entry: Entry, prefix: string) =>
  new StoredObject(
    resource,
    entry.key.slice(prefix.length),
    entry.revision,
    jsonAt(textOf(entry), entry.revision),
  )

/** A copy the caller may change. */
export const parse = (stored: StoredObject): ApiObject => JSON.parse(stored.json) as ApiObject

/** The text of a single object or a watch event: with kind and apiVersion. */
export const withKind = (json: string, kind: string, apiVersion: string) =>
  `{"kind":"${kind}","apiVersion":"${apiVersion}",${json.slice(1)}`
