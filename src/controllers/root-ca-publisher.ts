import type {ApiClient} from '../client/api-client.ts'
import type {Live} from '../trust/live.ts'
import {ensureBundleMap} from './bundle-map.ts'
import {follow, followLive, type ControllerSpec} from './kernel/controller.ts'
import {isActive} from './namespace-deletion.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const NAME = 'kube-root-ca.crt'
const KEY = 'ca.crt'
/** Clients compare this text, so it must be exactly Kubernetes' own. */
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** The cluster's CA bundle as a ConfigMap in every namespace, restored if it was changed or deleted. */
function publishRootCa(
  reader: Pick<ApiClient, 'configMaps' | 'namespaces'>,
  writer: Pick<ApiClient, 'configMaps'>,
  rootCa: Live<string>,
): Reconcile {
  return async (namespace, signal) => {
    if (!isActive(await reader.namespaces.find(namespace, {signal}))) return DONE
    const map = {namespace, name: NAME, key: KEY, pem: rootCa.current, description: DESCRIPTION}
    await ensureBundleMap(reader, writer, map, {signal})
    return DONE
  }
}

export function rootCaController(
  reader: ApiClient,
  writer: ApiClient,
  rootCa: Live<string>,
): ControllerSpec {
  const namespaces = follow(reader.namespaces, (_namespace, key) => [key])
  const everywhere = async () => (await namespaces.list()).map(({metadata}) => metadata.name ?? '')
  return {
    name: 'root-ca-cert-publisher',
    sources: [
      namespaces,
      followLive(rootCa, everywhere),
      follow(reader.configMaps, ({metadata}) => [metadata.namespace ?? ''], {
        fieldSelector: `metadata.name=${NAME}`,
      }),
    ],
    reconcile: publishRootCa(reader, writer, rootCa),
  }
}
