import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {follow, type ControllerSpec} from './controller.ts'
import {isActive} from './namespace-state.ts'
import {DONE, type Reconcile} from './work-queue.ts'

const NAME = 'kube-root-ca.crt'
const KEY = 'ca.crt'
const DESCRIPTION = 'kubernetes.io/description'
/** Real clients compare it: the one sentence of Kubernetes that has to stand here as it is. */
const DESCRIPTION_TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** The cluster's CA bundle as a ConfigMap in every namespace, put right where it was changed or deleted. */
export function publishRootCa(
  reader: Pick<ApiClient, 'configMaps' | 'namespaces'>,
  writer: Pick<ApiClient, 'configMaps'>,
  rootCa: () => string,
): Reconcile {
  return async (namespace, signal) => {
    if (!isActive(await reader.namespaces.find(namespace, {signal}))) return DONE
    const found = await reader.configMaps.find({namespace, name: NAME}, {signal})
    const data = {[KEY]: rootCa()}
    try {
      if (found === undefined) {
        const metadata = {namespace, name: NAME, annotations: {[DESCRIPTION]: DESCRIPTION_TEXT}}
        await writer.configMaps.create({metadata, data}, {signal})
      } else if (!isRight(found, data[KEY] ?? '')) {
        const annotations = {...found.metadata.annotations, [DESCRIPTION]: DESCRIPTION_TEXT}
        const {binaryData: _binaryData, ...rest} = found
        await writer.configMaps.update(
          {...rest, metadata: {...found.metadata, annotations}, data},
          {signal},
        )
      }
    } catch (error) {
      // The namespace is on its way out, or another event is: both bring this key back.
      if (!hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND', 'FORBIDDEN')) throw error
    }
    return DONE
  }
}

const isRight = ({data = {}, binaryData, metadata}: ConfigMap, ca: string) =>
  Object.keys(data).length === 1 &&
  data[KEY] === ca &&
  binaryData === undefined &&
  metadata.annotations?.[DESCRIPTION] === DESCRIPTION_TEXT

export const rootCaController = (
  reader: ApiClient,
  writer: ApiClient,
  rootCa: () => string,
): ControllerSpec => ({
  name: 'root-ca-cert-publisher',
  sources: [
    follow(reader.namespaces, (_namespace, key) => [key]),
    follow(reader.configMaps, ({metadata}) => [metadata.namespace ?? ''], {
      fieldSelector: `metadata.name=${NAME}`,
    }),
  ],
  reconcile: publishRootCa(reader, writer, rootCa),
})
