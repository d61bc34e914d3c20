import type {ApiObject} from '../../api/meta.ts'
import type {Entry} from '../../storage/storage.ts'
import type {Resource} from '../resource.ts'

const HEAD = '{"metadata":{'

/** One object in memory: its JSON text, ready to be sent, and what selectors look at. */
export interface StoredObject {
  key: string
  namespace: string
  name: string
  revision: number
  /** The object as JSON with its resourceVersion, without kind and apiVersion: as it stands in a list. */
  json: string
  labels: Record<string, string> | undefined
  /** The values of the fields that a fieldSelector may name. */
  fields: Record<string, string> | undefined
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

export const textOf = (entry: Entry) => decoder.decode(entry.value)

/** From the store into memory. */
export function fromEntry(resource: Resource, entry: Entry, prefix: string): StoredObject {
  const text = textOf(entry)
  const object = JSON.parse(text) as ApiObject
  const path = entry.key.slice(prefix.length)
  const slash = resource.namespaced ? path.indexOf('/') : -1
  return {
    key: path,
    namespace: slash === -1 ? '' : path.slice(0, slash),
    name: path.slice(slash + 1),
    revision: entry.revision,
    json: jsonAt(text, entry.revision),
    labels: object.metadata.labels,
    fields: fieldsOf(resource, object),
  }
}

function fieldsOf(resource: Resource, object: ApiObject): Record<string, string> | undefined {
  if (resource.fields === undefined) return undefined
  const fields: Record<string, string> = {}
  for (const [name, read] of Object.entries(resource.fields)) fields[name] = read(object)
  return fields
}

/** The deleted object as the watch shows it: its last state with the deletion's revision. */
export const atRevision = (stored: StoredObject, revision: number): StoredObject => ({
  ...stored,
  revision,
  json: stored.json.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${revision}"`),
})

/** A copy the caller may change. */
export const parse = (stored: StoredObject): ApiObject => JSON.parse(stored.json) as ApiObject

/** The text of a single answer or a watch event: with kind and apiVersion. */
export const withKind = (json: string, kind: string, apiVersion: string) =>
  `{"kind":"${kind}","apiVersion":"${apiVersion}",${json.slice(1)}`
