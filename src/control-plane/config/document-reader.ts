import {parseAllDocuments} from 'yaml'
import {TrustError, messageOf} from '../../errors.ts'
import type {Read} from './fields.ts'

/** A field that is used, one of Kubernetes that has no meaning here, or one with nested fields. */
export type Field<Target extends string> =
  {to: Target; read: Read<unknown>} | 'unused' | {[name: string]: Field<Target>}

/** What is read of each kind, by `apiVersion kind`. */
export type Kinds<Target extends string> = Record<string, Record<string, Field<Target>>>

/** Which documents a command reads. */
export interface DocumentRules<Target extends string> {
  kinds: Kinds<Target>
  /** The one version of kubeadm's documents that is read. */
  kubeadm: string
  /** The group and version of ours. */
  ours: string
  /** Kinds of the same groups that are for other commands. */
  otherKinds: readonly string[]
  /** What a file must contain, for messages. */
  expected: string
}

/** What the documents of a file say. */
export interface ReadDocuments<Target extends string> {
  values: Partial<Record<Target, unknown>>
  /** The documents that were read, each as `apiVersion kind`. */
  documents: string[]
  /** Parts of the file that have no effect here. */
  warnings: string[]
}

/** Without a warning: they are common, and have no consequence here. */
const SILENTLY_ACCEPTED = ['kubernetesVersion']

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isUse = <Target extends string>(
  field: Field<Target>,
): field is {to: Target; read: Read<unknown>} =>
  typeof field === 'object' && typeof field.read === 'function'

class Reader<Target extends string> implements ReadDocuments<Target> {
  readonly values: Partial<Record<Target, unknown>> = {}
  readonly documents: string[] = []
  readonly warnings: string[] = []
  readonly #rules: DocumentRules<Target>

  constructor(rules: DocumentRules<Target>) {
    this.#rules = rules
  }

  document(document: unknown): void {
    if (document === null || document === undefined) return
    if (!isMap(document)) throw invalid('a document is not a map')
    const {apiVersion, kind, ...rest} = document
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      throw invalid('a document has no apiVersion or kind')
    }
    const name = `${apiVersion} ${kind}`
    if (this.documents.includes(name)) throw invalid(`${kind} appears twice`)
    const {kinds} = this.#rules
    const fields = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (!fields) return this.#foreign(apiVersion, kind)
    this.documents.push(name)
    this.#fields(rest, fields, kind)
  }

  /** The file may contain documents for other programs; unknown ones are a mistake. */
  #foreign(apiVersion: string, kind: string): void {
    const {kubeadm, ours, otherKinds, expected} = this.#rules
    const [group = ''] = apiVersion.split('/')
    if (apiVersion.startsWith('kubeadm.k8s.io/') && apiVersion !== kubeadm) {
      throw invalid(`${kind} has the apiVersion ${apiVersion}, which is not supported`, [
        `convert it to ${kubeadm} with "kubeadm config migrate"`,
      ])
    }
    const isOfGroup = [kubeadm, ours].some((one) => one.startsWith(`${group}/`))
    if (isOfGroup && !otherKinds.includes(kind)) {
      throw invalid(`unknown kind ${kind} of ${apiVersion}`, [expected])
    }
    this.warnings.push(`${kind} of ${apiVersion} has no effect here`)
  }

  #fields(
    values: Record<string, unknown>,
    fields: Record<string, Field<Target>>,
    path: string,
  ): void {
    for (const [name, value] of Object.entries(values)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const full = `${path}.${name}`
      if (field === undefined) {
        throw invalid(`unknown field ${full}`, [`${path} has ${Object.keys(fields).join(', ')}`])
      }
      if (value === null || value === undefined) continue
      if (field === 'unused') {
        if (!SILENTLY_ACCEPTED.includes(name)) this.warnings.push(`${full} has no effect here`)
      } else if (isUse(field)) this.values[field.to] = field.read(value, full)
      else if (isMap(value)) this.#fields(value, field, full)
      else throw invalid(`${full} is not a map`)
    }
  }
}

function invalid(message: string, hints: string[] = []): TrustError {
  return new TrustError('CONFIG_INVALID', message, {hints})
}

function readAll<Target extends string>(content: string, reader: Reader<Target>): void {
  const documents = parseAllDocuments(content, {prettyErrors: false})
  for (const document of 'empty' in documents ? [] : documents) {
    const [problem] = document.errors
    if (problem) {
      const line = content.slice(0, problem.pos[0]).split('\n').length
      const what = problem.code.toLowerCase().replaceAll('_', ' ')
      throw invalid(`it is not valid YAML (line ${line}: ${what})`)
    }
    reader.document(valueOf(document))
  }
}

function valueOf(document: ReturnType<typeof parseAllDocuments>[number]): unknown {
  try {
    return (document as {toJS: (options: object) => unknown}).toJS({maxAliasCount: 50})
  } catch (error) {
    throw invalid(`it is not usable YAML: ${messageOf(error)}`)
  }
}

/** Reads the documents of a file. Unknown fields are refused, as a mistake; fields without effect are reported. */
export function readDocuments<Target extends string>(
  content: string,
  source: string,
  rules: DocumentRules<Target>,
): ReadDocuments<Target> {
  const reader = new Reader(rules)
  try {
    readAll(content, reader)
    if (reader.documents.length === 0) {
      throw invalid('it contains no configuration', [rules.expected])
    }
    return reader
  } catch (error) {
    if (!(error instanceof TrustError)) throw error
    throw new TrustError(error.code, `${source}: ${error.message}`, {
      cause: error,
      hints: error.hints,
    })
  }
}
