import type {ApiClient} from '../client/api-client.ts'
import {ensureBundleMap} from './bundle-map.ts'
import {follow, type ControllerSpec, type Source} from './kernel/controller.ts'
import {DONE} from './kernel/work-queue.ts'

const NAMESPACE = 'kube-system'
const NAME = 'kubelet-serving-ca'
/** Name and key as in OpenShift. */
const KEY = 'ca-bundle.crt'
const DESCRIPTION =
  'Contains the CA bundle by which callers of kubelets verify their serving certificates. It is not meant for the API server, nor for clients.'

/** A CA bundle that may be replaced while the process runs. */
export interface ChangingBundle {
  /** Undefined where there is no such CA. */
  pem: () => string | undefined
  /** Calls back at every change; answers how to end that. */
  subscribe: (changed: () => void) => () => void
}

const changesOf = ({subscribe}: ChangingBundle): Source => ({
  start({signal, enqueue}) {
    const end = subscribe(() => enqueue(NAME))
    signal.addEventListener('abort', end, {once: true})
    enqueue(NAME)
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
})

/** The CA of kubelets' serving certificates as a ConfigMap, for those who call kubelets and for nobody else. */
export const kubeletServingCaController = (
  reader: ApiClient,
  writer: ApiClient,
  bundle: ChangingBundle,
): ControllerSpec => ({
  name: 'kubelet-serving-ca-publisher',
  sources: [
    changesOf(bundle),
    follow(reader.configMaps, () => [NAME], {
      namespace: NAMESPACE,
      fieldSelector: `metadata.name=${NAME}`,
    }),
  ],
  reconcile: async (_key, signal) => {
    const pem = bundle.pem()
    if (pem === undefined) return DONE
    const map = {namespace: NAMESPACE, name: NAME, key: KEY, pem, description: DESCRIPTION}
    await ensureBundleMap(reader, writer, map, {signal})
    return DONE
  },
})
