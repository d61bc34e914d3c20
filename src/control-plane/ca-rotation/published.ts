import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  KUBECONFIG_KEY,
} from '../../bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../bootstrap/parse-cluster-info.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {
  ACCOUNT_TOKEN_TYPE,
  BOOTSTRAPPER_NAMESPACE,
  bundleAuthorities,
  bundlePlace,
} from '../../csr/bootstrapper.ts'
import {KUBELET_CLIENT, KUBELET_SERVING, type WellKnownSigner} from '../../csr/signers.ts'
import {encodeBundle, isSameBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {CLIENT_CA, KUBELET_CA, KUBELET_SERVING_CA} from '../certificates.ts'
import {readNamedSigners} from '../server-report.ts'
import type {Trust} from '../../trust/trust.ts'

type Reader = Pick<ApiClient, 'configMaps' | 'namespaces' | 'secrets'>
type Wanted = Pick<Trust, 'authorities' | 'bundles' | 'tokenKeys'>

const isBundle = (text: string | undefined, wanted: string): boolean => {
  try {
    return text !== undefined && isSameBundle(text, wanted)
  } catch {
    return false
  }
}

const decoded = (data: string | undefined): string | undefined =>
  data === undefined ? undefined : Buffer.from(data, 'base64').toString()

async function namespacesBehind(
  {namespaces, configMaps}: Reader,
  roots: string,
): Promise<string[]> {
  const [{items: spaces}, {items: maps}] = await Promise.all([
    namespaces.list(),
    configMaps.list({fieldSelector: 'metadata.name=kube-root-ca.crt'}),
  ])
  const byNamespace = new Map(maps.map((map) => [map.metadata.namespace, map.data?.['ca.crt']]))
  return spaces
    .filter(({metadata}) => metadata.deletionTimestamp === undefined)
    .map(({metadata}) => metadata.name ?? '')
    .filter((name) => !isBundle(byNamespace.get(name), roots))
    .map((name) => `ConfigMap ${name}/kube-root-ca.crt`)
}

/** Whether a server signs for nodes with a CA that its operator names: which one is shown then is not for a rotation to say. */
async function isSignedElsewhere(client: Reader, signer: WellKnownSigner): Promise<boolean> {
  const servers = await readNamedSigners(client)
  return servers.some(
    ({isServer, signers}) => isServer && signers.some(({name}) => name === signer),
  )
}

async function clusterInfoBehind(client: Reader, wanted: Wanted): Promise<string[]> {
  const {configMaps} = client
  const key = {namespace: CLUSTER_INFO_NAMESPACE, name: CLUSTER_INFO_NAME}
  const text = (await configMaps.find(key))?.data?.[KUBECONFIG_KEY]
  // Without one, machines do not join by tokens here.
  if (text === undefined) return []
  const {ca, issuers} = parseClusterInfo(text)
  /** Without a client CA of its own, a control plane does not publish who signs. */
  const isShown = async (id: string, published: string | undefined, signer: WellKnownSigner) => {
    const own = wanted.authorities.get(id)?.certificate.subjectKeyId
    if (own === undefined || (published ?? own) === own) return true
    return await isSignedElsewhere(client, signer)
  }
  const callers = wanted.authorities.get(KUBELET_CA)?.bundlePem
  const isRight =
    isBundle(ca, wanted.bundles['api-server'].pem) &&
    (await isShown(CLIENT_CA, issuers?.client, KUBELET_CLIENT)) &&
    (await isShown(KUBELET_SERVING_CA, issuers?.serving, KUBELET_SERVING)) &&
    (callers === undefined || isBundle(issuers?.kubeletClientCa, callers))
  if (isRight) return []
  return [`ConfigMap ${CLUSTER_INFO_NAMESPACE}/${CLUSTER_INFO_NAME}`]
}

/** The CAs of bootstrap credentials that other servers are told of. What cannot be read is not trusted. */
async function bootstrapAuthorities({configMaps}: Reader): Promise<Certificate[]> {
  const found = await configMaps.find(bundlePlace(BOOTSTRAPPER_NAMESPACE))
  try {
    return found ? bundleAuthorities(found) : []
  } catch {
    return []
  }
}

async function extensionServersBehind(client: Reader, {bundles}: Wanted): Promise<string[]> {
  const key = {namespace: 'kube-system', name: 'extension-apiserver-authentication'}
  const data = (await client.configMaps.find(key))?.data ?? {}
  const clients = [...bundles.client.certificates, ...(await bootstrapAuthorities(client))]
  const isRight =
    isBundle(data['client-ca-file'], encodeBundle(clients)) &&
    isBundle(data['requestheader-client-ca-file'], bundles['front-proxy'].pem)
  return isRight ? [] : [`ConfigMap ${key.namespace}/${key.name}`]
}

/** What callers of kubelets trust: before a node serves with a new certificate, they have to know its CA. */
async function kubeletCallersBehind(client: Reader, {bundles}: Wanted): Promise<string[]> {
  const key = {namespace: 'kube-system', name: KUBELET_SERVING_CA}
  const wanted = bundles['kubelet-serving']?.pem
  const found = await client.configMaps.find(key)
  // Without one, nobody publishes it here.
  if (!found || wanted === undefined || isBundle(found.data?.['ca-bundle.crt'], wanted)) return []
  if (await isSignedElsewhere(client, KUBELET_SERVING)) return []
  return [`ConfigMap ${key.namespace}/${key.name}`]
}

/** The id of the key that a token names as its own. */
export function keyIdOf(token: string): string | undefined {
  try {
    const header = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()
    return (JSON.parse(header) as {kid?: string}).kid
  } catch {
    return undefined
  }
}

async function tokenSecretsBehind(
  {secrets}: Reader,
  {bundles, tokenKeys}: Wanted,
): Promise<string[]> {
  const {items} = await secrets.list({fieldSelector: `type=${ACCOUNT_TOKEN_TYPE}`})
  return items
    .filter(({data = {}, immutable}) => {
      const [token, ca] = [decoded(data.token), decoded(data['ca.crt'])]
      if (immutable || token === undefined) return false
      return keyIdOf(token) !== tokenKeys.signing.id || !isBundle(ca, bundles['api-server'].pem)
    })
    .map(({metadata}) => `Secret ${metadata.namespace ?? ''}/${metadata.name ?? ''}`)
}

/** The objects that do not show the CAs of this trust state yet. */
export async function objectsBehind(client: Reader, wanted: Wanted): Promise<string[]> {
  const roots = wanted.bundles['api-server'].pem
  const found = await Promise.all([
    clusterInfoBehind(client, wanted),
    extensionServersBehind(client, wanted),
    kubeletCallersBehind(client, wanted),
    namespacesBehind(client, roots),
    tokenSecretsBehind(client, wanted),
  ])
  return found.flat()
}
