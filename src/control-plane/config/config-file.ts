import {parseAllDocuments} from 'yaml'
import {TrustError, messageOf} from '../../errors.ts'
import {KINDS, KUBEADM, OTHER_KUBEADM_KINDS, OURS, type Field, type Target} from './config-kinds.ts'
import type {Read} from './fields.ts'
import type {WantedToken} from '../tokens/create.ts'
import type {Choices} from './settings.ts'

/** What a configuration file says. */
export interface FileChoices {
  choices: Choices
  dir?: string
  skipPhases?: string[]
  generatedAuthorities?: string[]
  bootstrapTokens?: WantedToken[]
  /** The documents that were read, each as `apiVersion kind`. */
  documents: string[]
  /** What in the file has no effect here. */
  warnings: string[]
}

const EXPECTED = `a configuration holds InitConfiguration or ClusterConfiguration of ${KUBEADM}, or ${OURS.kind} of ${OURS.apiVersion}`

/** No warning: every cluster has these, and what is said is true here too or of no consequence. */
const SILENTLY_ACCEPTED = ['kubernetesVersion']

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isUse = (field: Field): field is {to: Target; read: Read<unknown>} =>
  typeof field === 'object' && typeof field.read === 'function'

class Reader {
  readonly values: Partial<Record<Target, unknown>> = {}
  readonly documents: string[] = []
  readonly warnings: string[] = []

  document(document: unknown): void {
    if (document === null || document === undefined) return
    if (!isMap(document)) throw invalid('there is something that is not a map')
    const {apiVersion, kind, ...rest} = document
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      throw invalid('there is a document without apiVersion and kind')
    }
    const name = `${apiVersion} ${kind}`
    if (this.documents.includes(name)) throw invalid(`${kind} is there twice`)
    const fields = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    if (!fields) return this.#foreign(apiVersion, kind)
    this.documents.push(name)
    this.#fields(rest, fields, kind)
  }

  /** Documents for other programs may stand in the same file; one that nobody reads is a mistake. */
  #foreign(apiVersion: string, kind: string): void {
    const [group = ''] = apiVersion.split('/')
    if (apiVersion.startsWith('kubeadm.k8s.io/') && apiVersion !== KUBEADM) {
      throw invalid(`${kind} is of ${apiVersion}, which is not read here`, [
        `bring it to ${KUBEADM} with "kubeadm config migrate"`,
      ])
    }
    const isOfGroup = [KUBEADM, OURS.apiVersion].some((one) => one.startsWith(`${group}/`))
    if (isOfGroup && !OTHER_KUBEADM_KINDS.includes(kind)) {
      throw invalid(`there is no kind ${kind} of ${apiVersion}`, [EXPECTED])
    }
    this.warnings.push(`${kind} of ${apiVersion} has no effect here`)
  }

  #fields(values: Record<string, unknown>, fields: Record<string, Field>, path: string): void {
    for (const [name, value] of Object.entries(values)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const full = `${path}.${name}`
      if (field === undefined) {
        throw invalid(`there is no field ${full}`, [
          `${path} has ${Object.keys(fields).join(', ')}`,
        ])
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

function readDocuments(content: string, reader: Reader): void {
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

/** Reads kubeadm's documents and ours. A field that nobody knows is refused, for it is a mistake; one without effect is named. */
export function parseConfigFile(content: string, source: string): FileChoices {
  const reader = new Reader()
  try {
    readDocuments(content, reader)
    if (reader.documents.length === 0) throw invalid('there is no configuration in it', [EXPECTED])
  } catch (error) {
    if (!(error instanceof TrustError)) throw error
    throw new TrustError(error.code, `${source}: ${error.message}`, {
      cause: error,
      hints: error.suggestions,
    })
  }
  const {dir, skipPhases, generatedAuthorities, bootstrapTokens, ...choices} = reader.values
  return {
    choices: choices as Choices,
    ...(dir === undefined ? {} : {dir: dir as string}),
    ...(skipPhases === undefined ? {} : {skipPhases: skipPhases as string[]}),
    ...(generatedAuthorities === undefined
      ? {}
      : {generatedAuthorities: generatedAuthorities as string[]}),
    ...(bootstrapTokens === undefined ? {} : {bootstrapTokens: bootstrapTokens as WantedToken[]}),
    documents: reader.documents,
    warnings: reader.warnings,
  }
}
