import {createHash} from 'node:crypto'

import type {ApiRequest, ApiResponse} from '../kernel/api-request.ts'

/** A document that all callers share. It is built at the first request and kept with its hash. */
export interface CachedDocument {
  readonly contentType: string
  readonly hash: string
  readonly body: Uint8Array
}

export type DocumentSource = () => CachedDocument

const hashOf = (body: Uint8Array) => createHash('sha512').update(body).digest('hex').toUpperCase()

/** Builds a document lazily and once. */
export function lazyDocument(
  contentType: string,
  build: () => Uint8Array | object,
): DocumentSource {
  let document: CachedDocument | undefined
  return () => {
    if (document === undefined) {
      const built = build()
      const body = built instanceof Uint8Array ? built : Buffer.from(JSON.stringify(built))
      document = {contentType, body, hash: hashOf(body)}
    }
    return document
  }
}

const asksFor = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) ?? false

/** Responds with a document, or 304 if the caller has it already. */
export function respondWith(
  {contentType, hash, body}: CachedDocument,
  {headers}: Pick<ApiRequest, 'headers'>,
  cacheControl = 'public',
): ApiResponse {
  const tag = `"${hash}"`
  const caching = {ETag: tag, Vary: 'Accept', 'Cache-Control': cacheControl}
  return asksFor(headers['if-none-match'], tag)
    ? {status: 304, headers: caching, body: ''}
    : {status: 200, headers: {...caching, 'Content-Type': contentType}, body}
}
