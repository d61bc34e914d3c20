import {parseAllDocuments} from 'yaml'
import {printable} from '../../client/printable.ts'
import {TrustError} from '../../errors.ts'
import type {Target} from './decide.ts'

const KIND = 'CertificateSigningRequest'
const MOST_ALIASES = 50

interface Manifest {
  kind?: unknown
  metadata?: {name?: unknown} | null
  spec?: {request?: unknown} | null
  items?: unknown
}

function invalid(message: string): TrustError {
  return new TrustError('CONFIG_INVALID', message, {
    hints: [
      `a manifest has "kind: ${KIND}" and "metadata.name", as kubectl prints it with -o yaml`,
    ],
  })
}

/** The requests in YAML or JSON manifests, as `kubectl certificate approve -f`, including those in lists. */
export function requestsOfManifests(text: string, source: string): Target[] {
  const documents = parseAllDocuments(text, {prettyErrors: false})
  // For an empty text, the parser returns an object instead of a list.
  const targets = ('empty' in documents ? [] : documents).flatMap((document, index) => {
    const [problem] = document.errors
    if (problem) throw invalid(`document ${index + 1} of ${source} is not YAML (${problem.code})`)
    const value: unknown = document.toJS({maxAliasCount: MOST_ALIASES})
    return value === null ? [] : targetsOf(value, source)
  })
  if (targets.length === 0) throw invalid(`${source} names no certificate request`)
  return targets
}

function targetsOf(value: unknown, source: string): Target[] {
  const {kind, metadata, spec, items} = (value ?? {}) as Manifest
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: unknown) =>
      targetsOf(
        kind === 'List' ? item : {kind: kind.slice(0, -'List'.length), ...(item as object)},
        source,
      ),
    )
  }
  if (kind !== KIND) {
    const found = typeof kind === 'string' ? `a ${printable(kind)}` : 'something without a kind'
    throw invalid(`${source} contains ${found}, not a ${KIND}`)
  }
  const name = metadata?.name
  if (typeof name !== 'string' || name === '') throw invalid(`a ${KIND} in ${source} has no name`)
  const request = spec?.request
  return [{name, ...(typeof request === 'string' && {request})}]
}
