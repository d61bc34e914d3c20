import {badRequest, notAcceptable} from '../kernel/status.ts'

export type MetaVersion = 'v1' | 'v1beta1'

/** What a response is converted to; always as JSON. */
export type Representation =
  {as: 'object'} | {as: 'table'; version: MetaVersion} | PartialRepresentation

export interface PartialRepresentation {
  as: 'partial'
  version: MetaVersion
  /** The caller named PartialObjectMetadataList, which fits lists only. */
  list: boolean
  /** The caller prefers protobuf, where items of a list have no kind and apiVersion: it expects none in JSON either. */
  bareItems: boolean
}

interface Clause {
  mediaType: string
  parameters: Map<string, string>
  quality: number
}

const OBJECT: Representation = {as: 'object'}
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF]
/** Clients send only a few different headers; others are not cached. */
const MAX_CACHED = 64
const MAX_CACHED_LENGTH = 512
/** Anyone can send this header, and each clause and parameter costs time. Clients send a few hundred characters. */
const MAX_ACCEPT = 4096

/** The clauses of an Accept header, the preferred first. Throws BadRequest if it is too long. */
export function parseAccept(accept: string): Clause[] {
  if (accept.length > MAX_ACCEPT)
    throw badRequest(`the Accept header is too long: limit is ${MAX_ACCEPT} characters`)
  const clauses = accept.split(',').map((text) => {
    const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim())
    const parameters = new Map(
      rest.map((parameter) => {
        const at = parameter.indexOf('=')
        return at < 0
          ? ([parameter, ''] as const)
          : ([parameter.slice(0, at).trim(), parameter.slice(at + 1).trim()] as const)
      }),
    )
    const quality = Number(parameters.get('q') ?? 1)
    return {mediaType: mediaType.toLowerCase(), parameters, quality}
  })
  return clauses.sort((a, b) => (b.quality || 0) - (a.quality || 0))
}

/** The conversion that a clause asks for; undefined if the server does not support it. */
function conversion({mediaType, parameters}: Clause): Representation | undefined {
  const kind = parameters.get('as')
  const group = parameters.get('g')
  const version = parameters.get('v')
  if (kind === undefined && group === undefined && version === undefined) return OBJECT
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (kind === 'Table') return {as: 'table', version}
  if (kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return undefined
  const list = kind === 'PartialObjectMetadataList'
  return {as: 'partial', version, list, bareItems: mediaType === PROTOBUF}
}

const served = (mediaType: string) =>
  MEDIA_TYPES.includes(mediaType) || mediaType === '*/*' || mediaType === 'application/*'

function decide(accept: string): Representation | undefined {
  const clauses = parseAccept(accept).filter(({mediaType}) => served(mediaType))
  // If nothing in the header is supported, the response is JSON, which every client reads.
  if (clauses.length === 0) return OBJECT
  for (const clause of clauses) {
    const representation = conversion(clause)
    if (representation !== undefined) return representation
  }
  return undefined
}

const decided = new Map<string, Representation | undefined>()

function decideOnce(accept: string): Representation | undefined {
  if (decided.has(accept)) return decided.get(accept)
  const representation = decide(accept)
  if (decided.size < MAX_CACHED && accept.length <= MAX_CACHED_LENGTH) {
    decided.set(accept, representation)
  }
  return representation
}

/** Chooses by the Accept header as Kubernetes does, except for the encoding: a client that asks for protobuf gets JSON. */
export function negotiate(accept: string | undefined): Representation {
  if (accept === undefined || accept === '') return OBJECT
  const representation = decideOnce(accept)
  if (representation === undefined) throw notAcceptable(MEDIA_TYPES)
  return representation
}

/** The same for objects without conversions, such as reviews: if only a Table is acceptable, the response is 406. */
export function negotiatePlain(accept: string | undefined): Representation {
  if (accept === undefined || negotiate(accept).as === 'object') return OBJECT
  const plain = parseAccept(accept).some(
    (clause) => served(clause.mediaType) && conversion(clause)?.as === 'object',
  )
  if (!plain) throw notAcceptable(MEDIA_TYPES)
  return OBJECT
}
