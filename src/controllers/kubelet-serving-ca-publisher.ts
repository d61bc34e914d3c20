import type {ApiClient} from '../client/api-client.ts'
import type {Live} from '../trust/live.ts'
import {ensureBundleMap} from './bundle-map.ts'
import {atTheStart, follow, followLive, type ControllerSpec} from './kernel/controller.ts'
import {DONE} from './kernel/work-queue.ts'

const NAMESPACE = 'kube-system'
const NAME = 'kubelet-serving-ca'
/** Name and key as in OpenShift. */
const KEY = 'ca-bundle.crt'
const DESCRIPTION =
  'Contains the CA bundle by which callers of kubelets verify their serving certificates. It is not meant for the API server, nor for clients.'

/**
 * Publishes the CA of kubelets' serving certificates as a ConfigMap, for callers of kubelets only. Does nothing without such
 * a CA.
 */
export const kubeletServingCaController = (
  reader: ApiClient,
  writer: ApiClient,
  bundle: Live<string | undefined>,
): ControllerSpec => ({
  name: 'kubelet-serving-ca-publisher',
  sources: [
    atTheStart,
    followLive(bundle, () => Promise.resolve([NAME])),
    follow(reader.configMaps, () => [NAME], {
      namespace: NAMESPACE,
      fieldSelector: `metadata.name=${NAME}`,
    }),
  ],
  reconcile: async (_key, signal) => {
    const pem = bundle.current
    if (pem === undefined) return DONE
    const map = {namespace: NAMESPACE, name: NAME, key: KEY, pem, description: DESCRIPTION}
    await ensureBundleMap(reader, writer, map, {signal})
    return DONE
  },
})
