import {isDeepStrictEqual} from 'node:util'
import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import type {CallOptions} from '../client/resource-client.ts'
import {hasCode} from '../errors.ts'

/** A ConfigMap that holds a CA bundle and nothing else. */
export interface BundleMap {
  namespace: string
  name: string
  key: string
  pem: string
  /** Says what it is for. */
  description: string
}

const DESCRIPTION = 'kubernetes.io/description'

const isRight = ({data, binaryData, metadata}: ConfigMap, {key, pem, description}: BundleMap) =>
  isDeepStrictEqual(data, {[key]: pem}) &&
  binaryData === undefined &&
  metadata.annotations?.[DESCRIPTION] === description

/** Creates the ConfigMap, or restores it if it was changed. */
export async function ensureBundleMap(
  reader: Pick<ApiClient, 'configMaps'>,
  writer: Pick<ApiClient, 'configMaps'>,
  map: BundleMap,
  options: CallOptions,
): Promise<void> {
  const {namespace, name, key, pem, description} = map
  const found = await reader.configMaps.find({namespace, name}, options)
  if (found && isRight(found, map)) return
  const annotations = {...found?.metadata.annotations, [DESCRIPTION]: description}
  const {binaryData: _binaryData, ...rest} = found ?? {metadata: {namespace, name}}
  const wanted = {...rest, metadata: {...rest.metadata, annotations}, data: {[key]: pem}}
  try {
    if (found) await writer.configMaps.update(wanted, options)
    else await writer.configMaps.create(wanted, options)
  } catch (error) {
    // The namespace is being deleted, or the ConfigMap has changed: either event adds this key again.
    if (!hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND', 'FORBIDDEN')) throw error
  }
}
