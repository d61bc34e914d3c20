import {parseDocument} from 'yaml'
import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import {endpointsExtension, readEndpoints} from './endpoints-extension.ts'

/**
 * ClusterInfo as a node stores it: the cluster's own kubeconfig, with its other addresses in an extension. It has no
 * credentials, so it can be used as `--discovery-file` too.
 */
export function formatStored({
  kubeconfig,
  endpoints,
}: Pick<TrustedClusterInfo, 'kubeconfig' | 'endpoints'>): string {
  const document = parseDocument(kubeconfig)
  const extensions = ['clusters', 0, 'cluster', 'extensions']
  document.deleteIn(extensions)
  if (endpoints.length > 0) {
    document.setIn(extensions, document.createNode(endpointsExtension(endpoints)))
  }
  return document.toString({lineWidth: 0})
}

export function parseStored(text: string, source = 'the stored cluster-info'): TrustedClusterInfo {
  const info = parseClusterInfo(text, source)
  return {
    ...info,
    endpoints: readEndpoints(text),
    kubeconfig: text,
    pins: pinsOf(authoritiesOf(info)),
    source: 'file',
    warnings: [],
  }
}
