import type {ApiRequest, ApiResponse} from '../kernel/api-request.ts'
import {lazyDocument, respondWith} from '../discovery/cached-document.ts'
import type {CachedDocument, DocumentSource} from '../discovery/cached-document.ts'
import {servedGroups} from '../discovery/served.ts'
import type {Resource} from '../kernel/resource.ts'
import {GNOSTIC_TYPE, encodeGnostic} from './gnostic.ts'
import {openapiV2} from './v2.ts'
import {openapiV3, openapiV3Root, v3Key} from './v3.ts'

/** Responds to a GET of an OpenAPI path; undefined for every other path. */
export type Openapi = (
  request: Pick<ApiRequest, 'headers' | 'path' | 'query'>,
) => ApiResponse | undefined

const JSON_TYPE = 'application/json'
const V3_PREFIX = '/openapi/v3/'
/** A URL with the document's hash never changes its content. */
const IMMUTABLE = 'public, immutable, max-age=31536000'

/** kubectl names only the protobuf form; browsers and curl get JSON. */
const wantsGnostic = (accept: string | undefined) =>
  accept?.includes('proto-openapi.spec.v2') ?? false

function respondV3(
  document: CachedDocument,
  request: Pick<ApiRequest, 'headers' | 'query'>,
): ApiResponse {
  const named = request.query.get('hash') === document.hash
  return respondWith(document, request, named ? IMMUTABLE : 'public')
}

/** The OpenAPI documents of the table of resources, each built at its first request and kept. */
export function createOpenapi(resources: readonly Resource[]): Openapi {
  const groups = servedGroups(resources)
  const versions = groups.flatMap((group) => group.versions)
  const v3 = new Map<string, DocumentSource>(
    versions.map((version) => [v3Key(version), lazyDocument(JSON_TYPE, () => openapiV3(version))]),
  )
  const v3Root = lazyDocument(JSON_TYPE, () =>
    openapiV3Root(
      versions.map(({group, version}) => ({
        group,
        version,
        hash: v3.get(v3Key({group, version}))?.().hash ?? '',
      })),
    ),
  )
  const v2 = lazyDocument(JSON_TYPE, () => openapiV2(groups))
  const v2Gnostic = lazyDocument(GNOSTIC_TYPE, () => encodeGnostic(openapiV2(groups)))

  return (request) => {
    const path = request.path.endsWith('/') ? request.path.slice(0, -1) : request.path
    if (path === '/openapi/v2') {
      const document = wantsGnostic(request.headers.accept) ? v2Gnostic : v2
      return respondWith(document(), request)
    }
    if (path === '/openapi/v3') return respondWith(v3Root(), request)
    if (!path.startsWith(V3_PREFIX)) return undefined
    const document = v3.get(path.slice(V3_PREFIX.length))
    return document && respondV3(document(), request)
  }
}
