import type {ApiClient} from '../client/api-client.ts'
import {ensureBundleMap} from './bundle-map.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {isActive} from './namespace-state.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const NAME = 'kube-root-ca.crt'
const KEY = 'ca.crt'
/** Real clients compare it: the one sentence of Kubernetes that has to stand here as it is. */
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** The cluster's CA bundle as a ConfigMap in every namespace, put right where it was changed or deleted. */
export function publishRootCa(
  reader: Pick<ApiClient, 'configMaps' | 'namespaces'>,
  writer: Pick<ApiClient, 'configMaps'>,
  rootCa: () => string,
): Reconcile {
  return async (namespace, signal) => {
    if (!isActive(await reader.namespaces.find(namespace, {signal}))) return DONE
    const map = {namespace, name: NAME, key: KEY, pem: rootCa(), description: DESCRIPTION}
    await ensureBundleMap(reader, writer, map, {signal})
    return DONE
  }
}

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
