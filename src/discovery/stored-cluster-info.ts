import {parseDocument} from 'yaml'
import {issuersExtension} from '../bootstrap/issuers-extension.ts'
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
  issuers,
}: Pick<TrustedClusterInfo, 'kubeconfig' | 'endpoints' | 'issuers'>): string {
  const document = parseDocument(kubeconfig)
  const extensions = ['clusters', 0, 'cluster', 'extensions']
  document.deleteIn(extensions)
  const kept = [...endpointsExtension(endpoints), ...issuersExtension(issuers)]
  if (kept.length > 0) document.setIn(extensions, document.createNode(kept))
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
