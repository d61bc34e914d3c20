import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  KUBECONFIG_KEY,
} from '../../bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../bootstrap/parse-cluster-info.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {isUndecided} from '../../csr/conditions.ts'
import {requestWords} from '../../csr/pairing-words.ts'
import {hasCode} from '../../errors.ts'

type Csr = CertificateSigningRequest

/** Makes the pairing words of a request that waits for a person; null for any other, and for one that cannot be read. */
export type Pairing = (csr: Csr) => Promise<string | null>

/**
 * The words as the machine that made the request prints them. Both sides use the CAs in cluster-info; in a cluster without one, those
 * of their kubeconfigs. It is read when the first words are needed.
 */
export function pairingIn(client: Pick<ApiClient, 'configMaps'>, ca: string | undefined): Pairing {
  let authorities: Promise<string | undefined> | undefined
  return async (csr) => {
    if (!isUndecided(csr)) return null
    authorities ??= authoritiesIn(client, ca)
    return (await requestWords(csr, await authorities)) ?? null
  }
}

async function authoritiesIn(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  ca: string | undefined,
): Promise<string | undefined> {
  try {
    const key = {namespace: CLUSTER_INFO_NAMESPACE, name: CLUSTER_INFO_NAME}
    const text = (await configMaps.find(key))?.data?.[KUBECONFIG_KEY]
    return text === undefined ? ca : parseClusterInfo(text).ca
  } catch (error) {
    // Machines that cannot use it fall back in the same way.
    if (hasCode(error, 'FORBIDDEN', 'CLUSTER_INFO_INVALID', 'CLUSTER_INFO_CREDENTIALS')) return ca
    throw error
  }
}
